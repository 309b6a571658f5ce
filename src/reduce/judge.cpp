#include "reduce/judge.h"

namespace repro_minify {

Judge::Judge(std::shared_ptr<const Backend> backend, Signature wanted, const ReduceOptions &options)
    : backend_(std::move(backend)), wanted_(std::move(wanted)), options_(options), pool_(options.jobs),
      journal_(options.journal_path), fingerprint_(" " + repro_minify::fingerprint(options.check)) {
  journal_.header(backend_->name(), wanted_, options_.check);
}

double Judge::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool Judge::fails(const Program &program, const std::vector<LazyProgram> &likely_next) {
  return is_wanted(judge(program, likely_next));
}

/// A failure that shows in an output needs one.
bool Judge::cannot_fail(const Program &program) const {
  return wanted_.where == "output" && program.graph->outputs().empty();
}

const Verdict &Judge::judge(const Program &program, const std::vector<LazyProgram> &likely_next) {
  const std::string hash = key_of(program);
  const auto known = known_.find(hash);
  if (known != known_.end()) {
    ++cached_;
    return known->second;
  }
  if (cannot_fail(program)) {
    Verdict verdict;
    verdict.outcome = Verdict::Outcome::Pass;
    verdict.message = "has no output";
    return known_.emplace(hash, std::move(verdict)).first->second;
  }
  if (!running_.count(hash)) {
    make_room(hash, likely_next);
    running_[hash] = start(program, hash);
  }
  start_ahead(likely_next);
  Verdict verdict = wait_for(program, hash);
  ++checks_;
  // The rest of the key is the same in every line: it stands in the header.
  journal_.verdict(pass_, hash.substr(0, hash.size() - fingerprint_.size()), size_of(program), verdict,
                   is_wanted(verdict));
  if (options_.progress)
    options_.progress({pass_, checks_, best_.operators, best_.nodes, elapsed_seconds()});
  return known_.emplace(hash, std::move(verdict)).first->second;
}

SandboxPool::Ticket Judge::start(const Program &program, const std::string &) {
  ++started_;
  return pool_.submit(check_job(subject_of(std::make_shared<Program>(program)), backend_, options_.check),
                      options_.limits);
}

void Judge::start_ahead(const std::vector<LazyProgram> &likely_next) {
  for (const auto &make : likely_next) {
    if (!pool_.has_free_worker())
      return;
    const Program program = make();
    const std::string hash = key_of(program);
    if (!known_.count(hash) && !running_.count(hash) && !cannot_fail(program))
      running_[hash] = start(program, hash);
  }
}

/// The question that is asked now never waits behind guesses that turned out wrong.
void Judge::make_room(const std::string &hash, const std::vector<LazyProgram> &likely_next) {
  if (pool_.has_free_worker() || running_.empty())
    return;
  std::map<std::string, bool> likely{{hash, true}};
  for (const auto &make : likely_next)
    likely[key_of(make())] = true;
  for (auto it = running_.begin(); it != running_.end();) {
    if (likely.count(it->first) || pool_.ready(it->second)) {
      ++it;
      continue;
    }
    pool_.cancel(it->second);
    it = running_.erase(it);
  }
}

/// The Program and everything else that a Verdict depends on.
std::string Judge::key_of(const Program &program) const {
  return canonical_hash(program) + fingerprint_;
}

Verdict Judge::wait_for(const Program &program, const std::string &hash) {
  return check_repeatedly(
      [&] {
        if (!running_.count(hash))
          running_[hash] = start(program, hash);
        return wait_for_one(program, hash);
      },
      [&](const Verdict &verdict) { return is_wanted(verdict); }, options_.repetition);
}

Verdict Judge::wait_for_one(const Program &program, const std::string &hash) {
  for (int attempt = 0;; ++attempt) {
    const auto outcome = pool_.wait(running_.at(hash), options_.interrupted);
    if (!outcome)
      throw Interrupted{};
    running_.erase(hash);
    // Somebody outside killed the child (an out-of-memory killer, an administrator): once more, then it is Unresolved.
    if (outcome->ending != Ending::Killed || attempt > 0)
      return verdict_of(*outcome);
    running_[hash] = start(program, hash);
  }
}

} // namespace repro_minify
