// The Judge answers one question: does this Program fail with the wanted Signature? It owns the sandboxes, the memory
// of verdicts and the journal; parallelism is here and nowhere else.
//
// Decisions stay sequential: a caller asks one question at a time and says beside it what it will probably ask next.
// Idle workers judge that ahead of time. So the result is the same for any number of jobs, and only the time differs.
#pragma once
#include "reduce/eta.h"
#include "reduce/journal.h"
#include "reduce/learned_timeout.h"
#include "repro_minify/reducer.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// Leaves a reduction that was interrupted; the best so far is with whoever accepted it.
struct Interrupted {};
/// Leaves a reduction whose time budget is spent.
struct OutOfTime {};

class Judge {
public:
  /// A Program made when a worker is free for it.
  using LazyProgram = std::function<Program()>;

  Judge(const InterestingnessTest &test, Signature wanted, const ReduceOptions &options);

  /// Whether this Verdict is the failure that is looked for.
  bool is_wanted(const Verdict &verdict) const { return shows(verdict, wanted_, options_.same_failure); }
  /// The Verdict, asked of the sandbox or remembered. Blocks until it is known. Throws Interrupted, OutOfTime.
  const Verdict &judge(const Program &program, const std::vector<LazyProgram> &likely_next = {});

  /// Names what is being tried, for the journal and for progress.
  void set_pass(const std::string &name) { pass_ = name; }
  /// What progress is reported of: the best so far, and how many passes have not found out that they are done.
  void set_best(const ProgramSize &size, int open_passes);

  int checks() const { return checks_; }
  int cached() const { return cached_; }
  int speculative() const { return started_ - checks_; }
  double check_seconds() const { return check_seconds_; }
  double elapsed_seconds() const;
  const Signature &wanted() const { return wanted_; }
  const ReduceOptions &options() const { return options_; }
  const InterestingnessTest &test() const { return test_; }
  int jobs() const { return pool_.workers(); }

private:
  class Upcoming;

  const Verdict *remembered(const std::string &hash);
  SandboxPool::Ticket start(const Program &program);
  void start_ahead(Upcoming &upcoming);
  void make_room(const std::string &hash, Upcoming &upcoming);
  Verdict wait_for(const Program &program, const std::string &hash);
  Verdict wait_for_one(const Program &program, const std::string &hash);
  void write_down(const Program &program, const std::string &hash, const Verdict &verdict);
  bool cannot_fail(const Program &program) const;
  bool time_is_up() const;

  InterestingnessTest test_;
  Signature wanted_;
  ReduceOptions options_;
  SandboxPool pool_;
  LearnedTimeout timeout_;
  CostModel cost_;
  std::map<std::string, Verdict> known_;
  std::map<std::string, SandboxPool::Ticket> running_;
  std::string pass_;
  ProgramSize best_;
  int open_passes_ = 0;
  int checks_ = 0, cached_ = 0, started_ = 0;
  double check_seconds_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace repro_minify
