#include "reduce/judge.h"

#include "check/ask_again.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace repro_minify {
namespace {

/// How long it takes still is said from this check on, where checks are slow enough for anybody to ask, and programs
/// small enough to go through hundreds of them meanwhile.
constexpr int first_outlook = 10;
constexpr double slow_check = 0.01;
constexpr int most_nodes_to_look_at = 4000;
/// Of the whole time, what that may take of a processor, and for how long answers may have to wait for it.
constexpr double most_looking = 0.15;
constexpr double most_overtime = 0.02;

} // namespace

/// So many questions without an answer in a row, and no other will have one.
constexpr int most_unanswered_in_a_row = 8;

/// What may be asked next: what the pass names, then what the Foresight does. Each made and hashed once, and not before
/// somebody wants to know.
class Judge::Upcoming {
public:
  Upcoming(const std::vector<LazyProgram> &makers, const MakeForesight &make_foresight)
      : makers_(makers), made_(makers.size()), make_foresight_(make_foresight) {}

  /// Whether the pass has named it.
  bool named(const std::string &hash) {
    for (size_t i = 0; i < made_.size(); ++i)
      if (at(i).hash == hash)
        return true;
    return false;
  }
  /// The next one that next() has not returned yet.
  std::optional<Guess> next() {
    if (next_ < made_.size())
      return at(next_++);
    if (!foresight_ && make_foresight_)
      foresight_ = make_foresight_();
    return foresight_ ? foresight_->next() : std::nullopt;
  }

private:
  const Guess &at(size_t i) {
    if (!made_[i]) {
      Program program = makers_[i]();
      std::string hash = canonical_hash(program);
      made_[i] = Guess{std::move(program), std::move(hash), {}};
    }
    return *made_[i];
  }

  const std::vector<LazyProgram> &makers_;
  std::vector<std::optional<Guess>> made_;
  size_t next_ = 0;
  const MakeForesight &make_foresight_;
  std::unique_ptr<Foresight> foresight_;
};

Judge::Judge(const InterestingnessTest &test, Signature wanted, const ReduceOptions &options)
    : test_(test), wanted_(std::move(wanted)), options_(options), pool_(options.jobs),
      timeout_(options.limits.timeout, wanted_.kind == FailureKind::Hang || options.same_failure == SameFailure::Any,
               options.highest_timeout) {}

double Judge::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool Judge::time_is_up() const {
  return options_.time_budget_seconds > 0 && elapsed_seconds() >= options_.time_budget_seconds;
}

/// A failure that shows in an output needs one.
bool Judge::cannot_fail(const Program &program) const {
  return wanted_.where == "output" && program.graph->outputs().empty();
}

/// What is known already, from this run or from the one that it resumes.
const Verdict *Judge::known(const std::string &hash) const {
  if (const auto known = known_.find(hash); known != known_.end())
    return &known->second;
  return options_.journal ? options_.journal->find(hash) : nullptr;
}

const Verdict *Judge::remembered(const std::string &hash) {
  const Verdict *verdict = known(hash);
  if (!verdict || known_.count(hash))
    return verdict;
  if (verdict->signatures.empty() || verdict->signatures.front().kind != FailureKind::Hang)
    timeout_.saw(std::chrono::duration<double>(verdict->wall_seconds));
  return &known_.emplace(hash, *verdict).first->second;
}

const Verdict &Judge::rehearse(const Program &program, const std::string &hash) {
  static const Verdict no = [] {
    Verdict verdict;
    verdict.outcome = Verdict::Outcome::Pass;
    return verdict;
  }();
  if (pool_.ready(running_.at(asked_).ticket) && rehearses_too_long())
    throw RehearsalOver{};
  if (const Verdict *verdict = known(hash))
    return *verdict;
  if (const auto early = early_.find(hash);
      early != early_.end() && is_answer(early->second.ended, early->second.verdict))
    return early->second.verdict;
  auto assumed = rehearsed_->assumed.find(hash);
  if (assumed == rehearsed_->assumed.end()) {
    if (const auto none = without_answer_.find(hash); none != without_answer_.end())
      return none->second;
    if (cannot_fail(program))
      return no;
    if (options_.interrupted && options_.interrupted())
      throw RehearsalOver{};
    if (!rehearsed_->decide)
      throw OpenQuestion{program, hash};
    assumed = rehearsed_->assumed.emplace(hash, rehearsed_->decide(program)).first;
  }
  return assumed->second ? *rehearsed_->yes : no;
}

/// A guess at the next question is worth nothing once there is the answer. An outlook may hold the search up a little.
bool Judge::rehearses_too_long() {
  const double now = elapsed_seconds();
  answer_there_at_ = answer_there_at_.value_or(now);
  return !rehearsed_->decide || overtime_ + now - *answer_there_at_ > most_overtime * now;
}

/// Once for each question, while its answer is waited for.
void Judge::look_ahead() {
  const double begin = elapsed_seconds();
  if (!outlook_ || !options_.progress || looked_during_ == question_ || checks_ + 2 < first_outlook ||
      best_.nodes > most_nodes_to_look_at || cost_.seconds_for(best_.nodes).value_or(0) < slow_check ||
      looked_seconds_ > most_looking * begin)
    return;
  looked_during_ = question_;
  answer_there_at_.reset();
  outlook_->look(begin, cost_);
  const double end = elapsed_seconds();
  looked_seconds_ += end - begin;
  overtime_ += answer_there_at_ ? end - *answer_there_at_ : 0;
}

const Verdict &Judge::judge(const Program &program, const std::vector<LazyProgram> &likely_next) {
  const std::string hash = canonical_hash(program);
  if (rehearsed_)
    return rehearse(program, hash);
  if (const Verdict *verdict = remembered(hash)) {
    ++cached_;
    return *verdict;
  }
  if (cannot_fail(program)) {
    Verdict verdict;
    verdict.outcome = Verdict::Outcome::Pass;
    verdict.message = "has no output";
    return known_.emplace(hash, std::move(verdict)).first->second;
  }
  if (time_is_up())
    throw OutOfTime{};
  asked_ = hash;
  ++question_;
  stop_disproved();
  Upcoming upcoming(likely_next, make_foresight_);
  if (!running_.count(hash) && !early_.count(hash)) {
    make_room(upcoming);
    start(program, hash, {}, timeout_.limit());
  }
  stop_unlikely(upcoming);
  const Verdict verdict = wait_for(program, hash, upcoming);
  if (verdict.no_answer)
    return note_unanswered(hash, verdict);
  unanswered_in_a_row_ = 0;
  write_down(program, hash, verdict);
  return known_.emplace(hash, verdict).first->second;
}

/// It is in no memory: whoever asks again asks anew.
const Verdict &Judge::note_unanswered(const std::string &hash, const Verdict &verdict) {
  ++unanswered_;
  reasons_.insert(verdict.message);
  if (++unanswered_in_a_row_ == most_unanswered_in_a_row)
    throw NothingAnswers{};
  return without_answer_.insert_or_assign(hash, verdict).first->second;
}

void Judge::write_down(const Program &program, const std::string &hash, const Verdict &verdict) {
  const ProgramSize size = size_of(program);
  ++checks_;
  check_seconds_ += verdict.wall_seconds;
  if (options_.journal)
    options_.journal->append(pass_, hash, size, verdict, is_wanted(verdict));
  // With what is done between two checks, and what several jobs save.
  cost_.saw(size.nodes, elapsed_seconds() - last_answer_at_);
  last_answer_at_ = elapsed_seconds();
  if (!options_.progress)
    return;
  Progress progress{pass_, checks_, best_.operators, best_.nodes, elapsed_seconds(), std::nullopt};
  if (outlook_ && checks_ >= first_outlook)
    progress.remaining_seconds = outlook_->seconds_left(progress.elapsed_seconds);
  options_.progress(progress);
}

void Judge::start(const Program &program, const std::string &hash, const Assumptions &assumed,
                  std::chrono::milliseconds timeout) {
  ++started_;
  Limits limits = options_.limits;
  limits.timeout = timeout;
  running_[hash] = {pool_.submit(test_.job(std::make_shared<Program>(program)), limits), assumed, question_, timeout};
}

/// Gives idle workers what may be asked next.
void Judge::keep_busy(Upcoming &upcoming) {
  take_early_answers();
  while (pool_.workers() > 1 && pool_.has_free_worker() && running_.count(asked_)) {
    const auto guess = upcoming.next();
    if (!guess)
      return;
    start_guess(*guess);
  }
}

void Judge::start_guess(const Guess &guess) {
  if (const auto running = running_.find(guess.hash); running != running_.end())
    running->second.likely_at = question_;
  else if (!known(guess.hash) && !early_.count(guess.hash) && !cannot_fail(guess.program))
    start(guess.program, guess.hash, guess.assumed, timeout_.limit());
}

/// What guesses have come to says what may be asked beyond them.
void Judge::take_early_answers() {
  for (auto it = running_.begin(); it != running_.end();) {
    const auto entry = it++;
    if (entry->first == asked_ || !pool_.ready(entry->second.ticket))
      continue;
    Ended ended{*pool_.wait(entry->second.ticket), entry->second.timeout};
    Verdict verdict = test_.verdict_of(ended.outcome);
    early_.emplace(entry->first, Early{std::move(ended), std::move(verdict)});
    running_.erase(entry);
  }
}

bool Judge::contradicts(const Assumptions &assumed) const {
  return std::any_of(assumed.begin(), assumed.end(), [&](const auto &assumption) {
    const Verdict *verdict = known(assumption.first);
    return verdict && is_wanted(*verdict) != assumption.second;
  });
}

void Judge::cancel(const std::string &hash) {
  pool_.cancel(running_.at(hash).ticket);
  running_.erase(hash);
}

/// A guess on a wrong assumption is not waited for, unless it is what is asked all the same.
void Judge::stop_disproved() {
  take_early_answers();
  for (auto it = running_.begin(); it != running_.end();) {
    const auto entry = it++;
    if (entry->first != asked_ && contradicts(entry->second.assumed))
      cancel(std::string(entry->first));
    else if (!entry->second.assumed.empty())
      entry->second.likely_at = question_;
  }
}

/// Guesses that nothing speaks for any more leave their workers to others.
void Judge::stop_unlikely(Upcoming &upcoming) {
  for (auto it = running_.begin(); it != running_.end();) {
    const auto &[hash, guess] = *it++;
    if (guess.likely_at < question_ && hash != asked_ && !upcoming.named(hash))
      cancel(std::string(hash));
  }
}

/// The question that is asked now never waits behind guesses.
void Judge::make_room(Upcoming &upcoming) {
  if (!pool_.has_free_worker())
    stop_unlikely(upcoming);
  if (!pool_.has_free_worker() && !running_.empty())
    cancel(std::string(std::max_element(running_.begin(), running_.end(), [](const auto &a, const auto &b) {
                         return a.second.ticket < b.second.ticket;
                       })->first));
}

Verdict Judge::wait_for(const Program &program, const std::string &hash, Upcoming &upcoming) {
  return check_repeatedly([&] { return wait_for_one(program, hash, upcoming); },
                          [&](const Verdict &verdict) { return is_wanted(verdict); }, options_.repetition);
}

/// Nothing when it was stopped.
std::optional<Judge::Ended> Judge::take(const std::string &hash, const std::function<bool()> &stop) {
  if (auto early = early_.extract(hash))
    return std::move(early.mapped().ended);
  const Running running = running_.at(hash);
  auto outcome = pool_.wait(running.ticket, stop);
  if (!outcome)
    return std::nullopt;
  running_.erase(hash);
  return Ended{std::move(*outcome), running.timeout};
}

/// It may have been slow for many reasons, a busy machine among them.
bool Judge::passed_a_learned_limit(const Ended &ended) const {
  return ended.outcome.ending == Ending::TimedOut && ended.timeout < options_.limits.timeout;
}

bool Judge::is_answer(const Ended &ended, const Verdict &verdict) const {
  return !verdict.no_answer && !passed_a_learned_limit(ended);
}

/// Nothing that is only guessed at stands in the way of a question that is asked again.
void Judge::be_alone() {
  while (!running_.empty())
    cancel(std::string(running_.begin()->first));
}

bool Judge::should_stop() const {
  return (options_.interrupted && options_.interrupted()) || time_is_up();
}

void Judge::stop() const {
  if (options_.interrupted && options_.interrupted())
    throw Interrupted{};
  throw OutOfTime{};
}

/// One that passed a learned limit gets the full one, which decides. One without an answer is asked again.
Verdict Judge::wait_for_one(const Program &program, const std::string &hash, Upcoming &upcoming) {
  bool alone = false;
  const auto stop_waiting = [&] {
    if (!alone)
      keep_busy(upcoming);
    if (meanwhile_)
      std::exchange(meanwhile_, nullptr)();
    look_ahead();
    return should_stop();
  };
  for (int again = 0;;) {
    if (!running_.count(hash) && !early_.count(hash))
      start(program, hash, {}, alone ? options_.limits.timeout : timeout_.limit());
    const auto ended = take(hash, stop_waiting);
    if (!ended)
      stop();
    if (ended->outcome.ending == Ending::Replied)
      timeout_.saw(ended->outcome.wall);
    Verdict verdict = test_.verdict_of(ended->outcome);
    if (is_answer(*ended, verdict) || again == most_asked_again)
      return verdict;
    alone = true;
    be_alone();
    if (passed_a_learned_limit(*ended))
      continue;
    if (!pause_before_asking_again(again++, [this] { return should_stop(); }))
      stop();
    if (test_.revive)
      test_.revive();
  }
}

} // namespace repro_minify
