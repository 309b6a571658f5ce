#include "reduce/turns.h"

#include "program/compute.h"

#include <system_error>
#include <utility>

namespace repro_minify {
namespace {

constexpr double nodes_that_cost_as_much_as_a_process = 256;

/// True if eager itself answers NaN or Inf: such a program is no bug report, and opens the door to another failure.
bool makes_eager_infinite(const Verdict &verdict) {
  for (const auto *leaves : {&verdict.outputs, &verdict.gradients})
    for (const auto &leaf : *leaves)
      if (leaf.ref_nan > 0 || leaf.ref_inf > 0)
        return true;
  return false;
}

/// The Answerer and the LastRecording, as much of them as is a pass's business.
class ExaminerOfTurn final : public Examiner {
public:
  ExaminerOfTurn(Answerer &answerer, LastRecording &recorder) : answerer_(answerer), recorder_(recorder) {}

  const Signature &wanted() const override { return answerer_.inquiry().wanted; }
  Verdict verdict_of(const Program &program) override { return answerer_.judge_in_full(program); }
  std::shared_ptr<const Recording> record(const Program &program) override {
    const Inquiry &inquiry = answerer_.inquiry();
    Limits limits = inquiry.options.limits;
    limits.interrupted = [this] { return answerer_.is_over(); };
    try {
      return recorder_.recording_of(program, inquiry.test.settings, limits);
    } catch (const std::exception &) {
      answerer_.leave_if_over(); // it was cut short
      throw;
    }
  }
  int questions_at_once() const override { return answerer_.questions_at_once(); }
  void enter_phase(const std::string &phase) override { answerer_.enter_phase(phase); }

private:
  Answerer &answerer_;
  LastRecording &recorder_;
};

} // namespace

struct Turns::Turn {
  Standing &standing;
  TurnReport &report;
  const Odds odds;
  std::optional<double> chance = {}; ///< of the next question, where the pass gave one
  double cost = 0;
};

void Turns::take(Standing &standing, size_t index, TurnReport &report) {
  Turn turn{standing, report, passes_[index]->odds};
  const Order before = standing.order;
  const bool put_off = run_pass(turn, index);
  const int removed = before.operators - standing.order.operators;
  const double gain = passes_[index]->goal == Goal::Size ? removed : report.worked;
  standing.schedule.took_turn(index, standing.order < before, gain, turn.cost);
  if (put_off)
    standing.schedule.put_off(index);
}

bool Turns::offer(Standing &standing, const Program &candidate, const std::vector<LazyProgram> &likely_next,
                  TurnReport &report) {
  Turn turn{standing, report, Odds()};
  return consider(turn, candidate, order_of(candidate), likely_next);
}

/// Runs the pass. Returns true if it puts off the rest of what it has to try.
bool Turns::run_pass(Turn &turn, size_t index) {
  Standing &standing = turn.standing;
  const auto fails = [&](const Program &candidate, const std::vector<LazyProgram> &next) {
    return consider(turn, candidate, order_of(candidate), next);
  };
  const auto accept = [&](const Program &candidate) {
    const Order order = order_of(candidate);
    return order < standing.order && consider(turn, candidate, order, {}) && order == standing.order;
  };
  std::string untried;
  bool put_off = false;
  const int unanswered = answerer_.unanswered();
  // The lambdas replace what passes hold by reference: they see the new ones.
  ExaminerOfTurn examiner(answerer_, recorder_);
  PassContext context{examiner,
                      standing.best,
                      standing.verdict,
                      accept,
                      fails,
                      turn.chance,
                      untried,
                      put_off,
                      standing.schedule.had_turn(index),
                      standing.schedule.is_put_off(index)};
  try {
    passes_[index]->run(context);
  } catch (const std::system_error &error) {
    untried = std::string("could not go on, as the machine lacked something: ") + error.what();
    put_off = false;
  } catch (const std::exception &error) {
    // A pass that stumbles over a strange program must not cost what the others found.
    turn.report.problem = error.what();
    untried = "ended early: " + first_sentence(error.what());
    put_off = false;
  }
  if (untried.empty() && put_off)
    untried = "was put off";
  if (untried.empty() && answerer_.unanswered() > unanswered)
    untried = had_no_answer;
  standing.untried[index] = untried;
  return put_off;
}

/// Returns true if the candidate fails; it becomes the best if it is lower in the Order too.
bool Turns::consider(Turn &turn, const Program &candidate, const Order &order, const std::vector<LazyProgram> &next) {
  Standing &standing = turn.standing;
  const bool lower = order < standing.order;
  turn.report.tried += lower;
  const double odds = turn.report.tried <= 1 ? turn.odds.first : turn.odds.later;
  turn.report.chance = std::exchange(turn.chance, std::nullopt).value_or(odds);
  turn.cost += 1 + order.nodes / nodes_that_cost_as_much_as_a_process;
  const Verdict &verdict = answerer_.judge(candidate, next);
  if (!answerer_.inquiry().is_wanted(verdict) ||
      (makes_eager_infinite(verdict) && !makes_eager_infinite(standing.verdict))) {
    audience_.turned_down(candidate, order, verdict, standing.order);
    return false;
  }
  if (!lower)
    return true;
  ++turn.report.worked;
  standing.best = candidate;
  standing.verdict = verdict;
  standing.order = order;
  audience_.improved(standing);
  return true;
}

} // namespace repro_minify
