// The Judge answers one question: does this Program fail with the wanted Signature? It owns the sandboxes, the memory
// of verdicts and the journal; parallelism is here and nowhere else.
//
// Decisions stay sequential: a caller asks one question at a time and says beside it what it will probably ask next.
// Idle workers judge that ahead of time. So the result is the same for any number of jobs, and only the time differs.
#pragma once
#include "reduce/journal.h"
#include "repro_minify/reducer.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// Leaves a reduction that was interrupted; the best so far is with whoever accepted it.
struct Interrupted {};

class Judge {
public:
  /// A Program made when a worker is free for it.
  using LazyProgram = std::function<Program()>;

  Judge(std::shared_ptr<const Backend> backend, Signature wanted, const ReduceOptions &options);

  /// Blocks until the answer is known. Throws Interrupted.
  bool fails(const Program &program, const std::vector<LazyProgram> &likely_next = {});
  /// Whether this Verdict is the failure that is looked for.
  bool is_wanted(const Verdict &verdict) const { return shows(verdict, wanted_, options_.same_failure); }
  /// The whole Verdict (asked of the sandbox, or remembered).
  const Verdict &judge(const Program &program, const std::vector<LazyProgram> &likely_next = {});

  /// Names what is being tried, for the journal and for progress.
  void set_pass(const std::string &name) { pass_ = name; }
  void set_best(const ProgramSize &size) { best_ = size; }

  int checks() const { return checks_; }
  int cached() const { return cached_; }
  int speculative() const { return started_ - checks_; }
  double elapsed_seconds() const;
  const Signature &wanted() const { return wanted_; }
  const ReduceOptions &options() const { return options_; }
  const Backend &backend() const { return *backend_; }
  int jobs() const { return pool_.workers(); }

private:
  SandboxPool::Ticket start(const Program &program, const std::string &hash);
  void start_ahead(const std::vector<LazyProgram> &likely_next);
  void make_room(const std::string &hash, const std::vector<LazyProgram> &likely_next);
  Verdict wait_for(const Program &program, const std::string &hash);
  Verdict wait_for_one(const Program &program, const std::string &hash);
  std::string key_of(const Program &program) const;
  bool cannot_fail(const Program &program) const;

  std::shared_ptr<const Backend> backend_;
  Signature wanted_;
  ReduceOptions options_;
  SandboxPool pool_;
  Journal journal_;
  std::map<std::string, Verdict> known_;
  std::map<std::string, SandboxPool::Ticket> running_;
  std::string fingerprint_; ///< what all Verdicts here depend on beside the Program
  std::string pass_;
  ProgramSize best_;
  int checks_ = 0, cached_ = 0, started_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace repro_minify
