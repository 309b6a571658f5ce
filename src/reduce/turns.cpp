#include "reduce/turns.h"

#include "program/compute.h"
#include "program/surgery.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir_views.h>

#include <algorithm>
#include <limits>
#include <system_error>

namespace repro_minify {

bool is_of_no_use(const torch::jit::Graph &graph) {
  using torch::jit::LoopView;
  using torch::jit::toIValue;
  return any_node(graph.block(), [&](const Node *node) {
    if (node->kind() != prim::Loop)
      return false;
    LoopView loop(const_cast<Node *>(node));
    const bool goes_on_for_ever = node->owningBlock() == graph.block() && // where each loop is come to
                                  toIValue(loop.maxTripCount()) == c10::IValue(std::numeric_limits<int64_t>::max()) &&
                                  toIValue(loop.inputCond()) == c10::IValue(true) &&
                                  toIValue(loop.nextCond()) == c10::IValue(true);
    return goes_on_for_ever || loop.loopType() == LoopView::ModifiedLoop;
  });
}

LastRecording::LastRecording(const Program &program, std::shared_ptr<const Recording> first)
    : last_(std::move(first)), of_(program) {}

std::shared_ptr<const Recording> LastRecording::made_of(const Program &program) const {
  const bool is_of_it = last_ && of_.graph == program.graph &&
                        std::equal(of_.inputs.begin(), of_.inputs.end(), program.inputs.begin(), program.inputs.end(),
                                   [](const ProgramInput &a, const ProgramInput &b) { return a.value.is(b.value); });
  return is_of_it ? last_ : nullptr;
}

std::shared_ptr<const Recording> LastRecording::make(const Program &program, const RunSettings &settings,
                                                     const Limits &limits) {
  last_ = std::make_shared<const Recording>(record(program, settings, limits));
  of_ = program;
  return last_;
}

namespace {

/// Returns the gain for one unit of cost that is expected of a pass before it has run: most for the registry's first.
double prior_gain(size_t position) {
  return 64.0 / static_cast<double>(1 + position);
}

/// How much of what earlier turns said is believed still: programs that have got small are of another kind.
constexpr double memory = 0.25;
/// The part of its prior gain that is expected of a pass that found nothing the last time.
constexpr double faint_hope = 1.0 / 64;

constexpr double nodes_that_cost_as_much_as_a_process = 256;

/// True if eager itself answers NaN or Inf: such a program is no bug report, and opens the door to another failure.
bool makes_eager_infinite(const Verdict &verdict) {
  for (const auto *leaves : {&verdict.outputs, &verdict.gradients})
    for (const auto &leaf : *leaves)
      if (leaf.ref_nan > 0 || leaf.ref_inf > 0)
        return true;
  return false;
}

/// The Checker and the LastRecording, as much of them as is a pass's business.
class ServicesOfTurn final : public PassServices {
public:
  ServicesOfTurn(Checker &checker, LastRecording &recorder) : checker_(checker), recorder_(recorder) {}

  const Signature &wanted() const override { return checker_.goal().wanted; }
  Verdict verdict_of(const Program &program) override { return checker_.check_in_full(program); }
  std::shared_ptr<const Recording> record(const Program &program) override {
    if (auto made = recorder_.made_of(program))
      return made;
    checker_.before_recording();
    const ReductionGoal &goal = checker_.goal();
    Limits limits = goal.options.limits;
    limits.interrupted = [this] { return checker_.is_over(); };
    try {
      return recorder_.make(program, goal.test.settings, limits);
    } catch (const std::exception &) {
      checker_.leave_if_over(); // it was cut short
      throw;
    }
  }
  int questions_at_once() const override { return checker_.questions_at_once(); }
  void enter_phase(const std::string &phase) override { checker_.enter_phase(phase); }

private:
  Checker &checker_;
  LastRecording &recorder_;
};

/// Null where eager does not run it, which is then said.
std::shared_ptr<const Recording> recording_or_none(PassServices &services, const Program &program,
                                                   const std::function<void(const std::string &)> &incomplete) {
  try {
    return services.record(program);
  } catch (const std::runtime_error &error) {
    incomplete("could not record what eager computes: " + first_sentence(error.what()));
    return nullptr;
  }
}

/// Runs a pass. Where it throws, what it has left untried is not deferred, and `incomplete_because` has the reason: a
/// pass that stumbles over a strange program must not cost what the others found.
void run_safely(const ReductionPass &pass, EngineContext &context, Turns::Report &report,
                std::string &incomplete_because) {
  try {
    pass.run(context);
    return;
  } catch (const std::system_error &error) {
    incomplete_because = std::string("could not go on, as the machine lacked something: ") + error.what();
  } catch (const std::exception &error) {
    report.problem = error.what();
    incomplete_because = "ended early: " + first_sentence(error.what());
  }
  context.deferred = false;
}

} // namespace

bool Schedule::comes_before(const Row &a, const Row &b) {
  return a.deferred != b.deferred ? b.deferred : a.gain * b.cost > b.gain * a.cost;
}

Schedule::Schedule(const std::vector<const ReductionPass *> &passes) {
  for (size_t i = 0; i < passes.size(); ++i)
    rows_.push_back({passes[i]->goal, true, prior_gain(i), 1});
}

std::optional<size_t> Schedule::best_of(Goal goal) const {
  std::optional<size_t> best;
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].open && rows_[i].goal == goal && (!best || comes_before(rows_[i], rows_[*best])))
      best = i;
  return best;
}

std::optional<size_t> Schedule::next() {
  if (const auto pass = best_of(goal_))
    return pass;
  goal_ = goal_ == Goal::Size ? Goal::Simplicity : Goal::Size;
  return best_of(goal_);
}

void Schedule::took_turn(size_t pass, bool accepted, double gain, double cost) {
  Row &row = rows_[pass];
  row.gain = accepted ? memory * row.gain + gain : faint_hope * prior_gain(pass);
  row.cost = memory * row.cost + cost;
  row.deferred = false;
  ++row.turns;
  if (accepted)
    for (Row &other : rows_) {
      other.open = true;
      other.deferred = false;
    }
  else
    row.open = false;
}

void Schedule::deferred(size_t pass) {
  rows_[pass].open = true;
  rows_[pass].deferred = true;
}

struct Turns::Turn {
  ReductionState &state;
  Turns::Report &report;
  const ReductionPass::Odds odds;
  std::optional<double> chance = {}; ///< of the next question, where the pass gave one
  double cost = 0;
};

void Turns::take(ReductionState &state, size_t index, Turns::Report &report) {
  Turn turn{state, report, passes_[index]->odds};
  const Order before = state.order;
  const bool deferred = run_pass(turn, index);
  const int removed = before.operators - state.order.operators;
  const double gain = passes_[index]->goal == Goal::Size ? removed : report.worked;
  state.schedule.took_turn(index, state.order < before, gain, turn.cost);
  if (deferred)
    state.schedule.deferred(index);
}

bool Turns::offer(ReductionState &state, const Program &candidate, const std::vector<LazyProgram> &likely_next,
                  Turns::Report &report) {
  Turn turn{state, report, ReductionPass::Odds()};
  return consider(turn, candidate, order_of(candidate), likely_next);
}

/// Runs the pass. Returns true if it puts off the rest of what it has to try.
bool Turns::run_pass(Turn &turn, size_t index) {
  ReductionState &state = turn.state;
  std::string incomplete_because;
  bool deferred = false;
  const int unanswered = checker_.unanswered();
  ServicesOfTurn services(checker_, recorder_);
  // The functions replace what passes hold by reference: they see the new ones.
  const auto fails = [&](const Program &candidate, const std::vector<LazyProgram> &next) {
    return consider(turn, candidate, order_of(candidate), next);
  };
  const auto try_candidate = [&](const Program &candidate) {
    const Order order = order_of(candidate);
    return order < state.order && consider(turn, candidate, order, {}) && order == state.order;
  };
  const auto incomplete = [&](const std::string &left_out) { incomplete_because = left_out; };
  const auto record = [&] { return recording_or_none(services, state.best, incomplete); };
  EngineContext context{{state.best, try_candidate, record, incomplete},
                        services,
                        state.verdict,
                        fails,
                        turn.chance,
                        deferred,
                        state.schedule.had_turn(index),
                        state.schedule.is_deferred(index)};
  run_safely(*passes_[index], context, turn.report, incomplete_because);
  if (incomplete_because.empty() && deferred)
    incomplete_because = "was put off";
  if (incomplete_because.empty() && checker_.unanswered() > unanswered)
    incomplete_because = had_no_answer;
  state.incomplete_because[index] = incomplete_because;
  return deferred;
}

/// Returns true if the candidate fails; it becomes the best if it is lower in the Order too.
bool Turns::consider(Turn &turn, const Program &candidate, const Order &order, const std::vector<LazyProgram> &next) {
  ReductionState &state = turn.state;
  const bool lower = order < state.order;
  turn.report.tried += lower;
  const double odds = turn.report.tried <= 1 ? turn.odds.first : turn.odds.later;
  turn.report.chance = std::exchange(turn.chance, std::nullopt).value_or(odds);
  turn.cost += 1 + order.nodes / nodes_that_cost_as_much_as_a_process;
  const Verdict &verdict = checker_.check(candidate, next);
  if (!checker_.goal().is_wanted(verdict) || (makes_eager_infinite(verdict) && !makes_eager_infinite(state.verdict))) {
    if (on_turned_down_)
      on_turned_down_(candidate, order, verdict, state.order);
    return false;
  }
  if (!lower)
    return true;
  ++turn.report.worked;
  state.best = candidate;
  state.verdict = verdict;
  state.order = order;
  if (on_improved_)
    on_improved_(state);
  return true;
}

} // namespace repro_minify
