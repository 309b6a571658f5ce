#include "reduce/candidate_checker.h"

#include "check/unresolved.h"

#include <algorithm>
#include <utility>

namespace repro_minify {
namespace {

Verdict passes(const std::string &message) {
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Pass;
  verdict.message = message;
  return verdict;
}

/// A fresh process for each takes half a second on a GPU.
constexpr std::size_t most_asked_afresh = 8;

constexpr int most_limits_in_vain = 6;

/// A check in float64 holds three times as much: two at once, one perhaps for nothing, can be more than there is.
constexpr std::size_t most_bytes_of_a_guess = std::size_t{512} << 20;

std::size_t bytes_of_inputs(const Program &program) {
  std::size_t bytes = 0;
  for (const ProgramInput &input : program.inputs)
    if (input.value.isTensor() && input.value.toTensor().has_storage())
      bytes += input.value.toTensor().storage().nbytes();
  return bytes;
}

double seconds_of(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

} // namespace

CandidateChecker::CandidateChecker(const InterestingnessTest &test, Signature wanted, const ReduceOptions &options)
    : goal_{test, std::move(wanted), options}, pool_(options.jobs), memory_(options.journal),
      checks_(pool_, options.limits, test.verdict_of,
              [this](const std::string &hash) {
                const Verdict *verdict = memory_.find(hash);
                return verdict ? std::optional(goal_.is_wanted(*verdict)) : std::nullopt;
              }),
      timeout_(options.limits.timeout,
               goal_.wanted.kind == FailureKind::Hang || options.same_failure == SameFailure::Any) {}

void CandidateChecker::enter_phase(const std::string &phase) {
  if (goal_.options.on_phase && !searching_)
    goal_.options.on_phase(phase);
}

void CandidateChecker::enter_search() {
  enter_phase("search");
  searching_ = true;
}

const Verdict *CandidateChecker::recall(const std::string &hash) {
  const auto [verdict, from_journal] = memory_.recall(hash);
  if (from_journal && (verdict->signatures.empty() || verdict->signatures.front().kind != FailureKind::Hang))
    timeout_.saw(std::chrono::duration<double>(verdict->wall_seconds));
  if (from_journal)
    count_in_vain(*verdict);
  return verdict;
}

/// In a search for a hang; one candidate is a limit at most.
void CandidateChecker::count_in_vain(const Verdict &verdict) {
  if (goal_.wanted.kind == FailureKind::Hang && !goal_.is_wanted(verdict))
    seconds_in_vain_ += std::min(verdict.wall_seconds, seconds_of(timeout_.full()));
}

const Verdict *CandidateChecker::foreseen(const std::string &hash) const {
  if (const Verdict *verdict = memory_.find(hash))
    return verdict;
  const auto *ended = checks_.early(hash);
  return ended && is_answer(*ended) ? &ended->answer : nullptr;
}

Job CandidateChecker::job_of(const Program &program) const {
  return goal_.test.job(std::make_shared<Program>(program));
}

Guess CandidateChecker::guess_at(Program program, std::string hash, Assumptions assumed) const {
  if (goal_.cannot_fail(program) || bytes_of_inputs(program) > most_bytes_of_a_guess)
    return {std::move(hash), [] { return Job(); }, std::move(assumed)};
  return {std::move(hash), [this, program = std::move(program)] { return job_of(program); }, std::move(assumed)};
}

std::vector<LazyGuess> CandidateChecker::guesses_at(const std::vector<LazyProgram> &programs) const {
  std::vector<LazyGuess> guesses;
  for (const LazyProgram &make : programs)
    guesses.push_back([this, &make] {
      Program program = make();
      std::string hash = canonical_hash(program);
      return guess_at(std::move(program), std::move(hash));
    });
  return guesses;
}

const Verdict &CandidateChecker::check(const Program &program, const std::vector<LazyProgram> &likely_next) {
  const std::string hash = canonical_hash(program);
  if (const Verdict *verdict = recall(hash)) {
    tally_.recalled();
    return *verdict;
  }
  if (goal_.cannot_fail(program))
    return memory_.learn(hash, passes("has no output, no end, or no text"));
  if (time_is_up())
    throw EndedEarly::OutOfTime;
  if (seconds_in_vain_ > most_limits_in_vain * seconds_of(timeout_.full()))
    throw EndedEarly::LimitsSpent;
  Upcoming upcoming(guesses_at(likely_next), make_foresight_);
  checks_.ask(
      hash, [&] { return job_of(program); }, timeout_.limit(), upcoming);
  double seconds = 0; // of all runs
  Verdict verdict = check_repeatedly(
      [&] {
        Verdict one = wait_for(program, hash, upcoming);
        seconds += one.wall_seconds;
        return one;
      },
      [&](const Verdict &one) { return goal_.is_wanted(one); }, goal_.options.repetition);
  if (const auto &required = goal_.options.also_required; required && goal_.is_wanted(verdict) && !required(program)) {
    leave_if_over(); // its answer is no answer then
    verdict = passes("fails in a check, and nowhere else");
  }
  return verdict.no_answer ? note_in_vain(hash, verdict) : write_down(program, hash, verdict, seconds);
}

/// Keeps the outcome of a question that had no answer, which is asked anew the next time. Throws EndedEarly.
const Verdict &CandidateChecker::note_in_vain(const std::string &hash, const Verdict &verdict) {
  tally_.unanswered(verdict.message);
  if (tally_.nothing_answers())
    throw EndedEarly::NothingAnswers;
  return memory_.note_in_vain(hash, verdict);
}

const Verdict &CandidateChecker::write_down(const Program &program, const std::string &hash, const Verdict &verdict,
                                            double seconds) {
  const ProgramSize size = size_of(program);
  const Verdict &written = memory_.write_down(hash, verdict, pass_, size, goal_.is_wanted(verdict));
  tally_.answered(seconds);
  count_in_vain(written);
  if (goal_.test.fresh_job && !goal_.is_wanted(verdict)) {
    last_passed_.push_back(std::make_shared<Program>(program));
    if (last_passed_.size() > most_asked_afresh)
      last_passed_.pop_front();
  }
  report_progress();
  return written;
}

int CandidateChecker::failing_afresh() const {
  return static_cast<int>(std::count_if(last_passed_.begin(), last_passed_.end(), [this](const auto &program) {
    if (is_interrupted())
      return false;
    const JobEnd job_end = run_until_answered(goal_.test.fresh_job(program), goal_.options.limits);
    return goal_.is_wanted(goal_.test.verdict_of(job_end));
  }));
}

void CandidateChecker::report_progress() const {
  if (goal_.options.progress)
    goal_.options.progress({pass_, tally_.checks(), best_.operators, best_.nodes, tally_.elapsed_seconds()});
}

/// It may have been slow for many reasons, a busy machine among them.
bool CandidateChecker::passed_a_learned_limit(const Checks::Ended &ended) const {
  return ended.job_end.ending == Ending::TimedOut && ended.timeout < timeout_.full();
}

bool CandidateChecker::is_answer(const Checks::Ended &ended) const {
  return !ended.answer.no_answer && !passed_a_learned_limit(ended);
}

bool CandidateChecker::time_is_up() const {
  const double budget = goal_.options.time_budget_seconds;
  return budget > 0 && tally_.elapsed_seconds() >= budget;
}

void CandidateChecker::stop() const {
  if (is_interrupted())
    throw Interrupted{};
  throw EndedEarly::OutOfTime;
}

void CandidateChecker::work_meanwhile() {
  if (meanwhile_)
    std::exchange(meanwhile_, nullptr)();
}

/// One that passed a learned limit gets the full one, which decides. One without an answer is asked again, and nothing
/// that is only guessed at stands in its way then.
Verdict CandidateChecker::wait_for(const Program &program, const std::string &hash, Upcoming &upcoming) {
  bool alone = false;
  const auto stop_waiting = [&] {
    if (!alone)
      checks_.keep_busy(upcoming, timeout_.limit());
    work_meanwhile();
    return should_stop();
  };
  for (int again = 0;;) {
    if (!checks_.has(hash))
      checks_.start(hash, job_of(program), alone ? timeout_.full() : timeout_.limit());
    auto ended = checks_.take(hash, stop_waiting);
    if (!ended)
      stop();
    if (ended->job_end.ending == Ending::Replied)
      timeout_.saw(ended->job_end.wall);
    if (is_answer(*ended) || again == most_asked_again)
      return std::move(ended->answer);
    alone = true;
    checks_.stop_all();
    if (passed_a_learned_limit(*ended))
      continue;
    if (!pause_before_asking_again(again++, [this] { return should_stop(); }))
      stop();
    if (goal_.test.revive)
      goal_.test.revive();
  }
}

} // namespace repro_minify
