#include "reduce/judge.h"

#include <optional>
#include <utility>

namespace repro_minify {

/// What will probably be asked next; each made and hashed once, and not before somebody wants to know.
class Judge::Upcoming {
public:
  explicit Upcoming(const std::vector<LazyProgram> &makers) : makers_(makers), made_(makers.size()) {}

  struct Candidate {
    Program program;
    std::string hash;
  };
  size_t size() const { return makers_.size(); }
  const Candidate &at(size_t i) {
    if (!made_[i]) {
      Program program = makers_[i]();
      std::string hash = canonical_hash(program);
      made_[i] = Candidate{std::move(program), std::move(hash)};
    }
    return *made_[i];
  }

private:
  const std::vector<LazyProgram> &makers_;
  std::vector<std::optional<Candidate>> made_;
};

Judge::Judge(const InterestingnessTest &test, Signature wanted, const ReduceOptions &options)
    : test_(test), wanted_(std::move(wanted)), options_(options), pool_(options.jobs),
      timeout_(options.limits.timeout, wanted_.kind != FailureKind::Hang && options.same_failure != SameFailure::Any) {}

double Judge::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Judge::set_best(const ProgramSize &size, int open_passes) {
  best_ = size;
  open_passes_ = open_passes;
}

bool Judge::time_is_up() const {
  return options_.time_budget_seconds > 0 && elapsed_seconds() >= options_.time_budget_seconds;
}

/// A failure that shows in an output needs one.
bool Judge::cannot_fail(const Program &program) const {
  return wanted_.where == "output" && program.graph->outputs().empty();
}

/// What is known already, from this run or from the one that it resumes.
const Verdict *Judge::remembered(const std::string &hash) {
  if (const auto known = known_.find(hash); known != known_.end())
    return &known->second;
  const Verdict *earlier = options_.journal ? options_.journal->find(hash) : nullptr;
  if (!earlier)
    return nullptr;
  timeout_.saw(std::chrono::duration<double>(earlier->wall_seconds));
  return &known_.emplace(hash, *earlier).first->second;
}

const Verdict &Judge::judge(const Program &program, const std::vector<LazyProgram> &likely_next) {
  const std::string hash = canonical_hash(program);
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
  Upcoming upcoming(likely_next);
  if (!running_.count(hash)) {
    make_room(hash, upcoming);
    running_[hash] = start(program);
  }
  start_ahead(upcoming);
  const Verdict verdict = wait_for(program, hash);
  write_down(program, hash, verdict);
  return known_.emplace(hash, verdict).first->second;
}

void Judge::write_down(const Program &program, const std::string &hash, const Verdict &verdict) {
  const ProgramSize size = size_of(program);
  ++checks_;
  check_seconds_ += verdict.wall_seconds;
  if (options_.journal)
    options_.journal->append(pass_, hash, size, verdict, is_wanted(verdict));
  cost_.saw(size.nodes, verdict.wall_seconds);
  if (!options_.progress)
    return;
  Progress progress{pass_, checks_, best_.operators, best_.nodes, elapsed_seconds(), std::nullopt};
  if (const auto seconds = cost_.seconds_for(best_.nodes))
    progress.remaining_seconds = *seconds * expected_calls(best_.operators, open_passes_);
  options_.progress(progress);
}

SandboxPool::Ticket Judge::start(const Program &program) {
  ++started_;
  Limits limits = options_.limits;
  limits.timeout = timeout_.limit();
  return pool_.submit(test_.job(std::make_shared<Program>(program)), limits);
}

void Judge::start_ahead(Upcoming &upcoming) {
  for (size_t i = 0; i < upcoming.size() && pool_.has_free_worker(); ++i) {
    const auto &[program, hash] = upcoming.at(i);
    if (!remembered(hash) && !running_.count(hash) && !cannot_fail(program))
      running_[hash] = start(program);
  }
}

/// The question that is asked now never waits behind guesses that turned out wrong.
void Judge::make_room(const std::string &hash, Upcoming &upcoming) {
  if (pool_.has_free_worker() || running_.empty())
    return;
  std::map<std::string, bool> likely{{hash, true}};
  for (size_t i = 0; i < upcoming.size(); ++i)
    likely[upcoming.at(i).hash] = true;
  for (auto it = running_.begin(); it != running_.end();) {
    if (likely.count(it->first) || pool_.ready(it->second)) {
      ++it;
      continue;
    }
    pool_.cancel(it->second);
    it = running_.erase(it);
  }
}

Verdict Judge::wait_for(const Program &program, const std::string &hash) {
  return check_repeatedly(
      [&] {
        if (!running_.count(hash))
          running_[hash] = start(program);
        return wait_for_one(program, hash);
      },
      [&](const Verdict &verdict) { return is_wanted(verdict); }, options_.repetition);
}

Verdict Judge::wait_for_one(const Program &program, const std::string &hash) {
  const auto stop = [&] { return (options_.interrupted && options_.interrupted()) || time_is_up(); };
  for (int attempt = 0;; ++attempt) {
    const auto outcome = pool_.wait(running_.at(hash), stop);
    if (!outcome) {
      if (options_.interrupted && options_.interrupted())
        throw Interrupted{};
      throw OutOfTime{};
    }
    running_.erase(hash);
    if (outcome->ending == Ending::Replied)
      timeout_.saw(outcome->wall);
    // Somebody outside killed the child (an out-of-memory killer, an administrator): once more, then it is Unresolved.
    if (outcome->ending != Ending::Killed || attempt > 0)
      return test_.verdict_of(*outcome);
    running_[hash] = start(program);
  }
}

} // namespace repro_minify
