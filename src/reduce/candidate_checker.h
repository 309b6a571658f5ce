// The CandidateChecker answers one question: does this Program fail with the wanted Signature? It owns the sandboxes;
// parallelism is here and nowhere else. What it remembers is in search_memory.h, what runs ahead in search_under_way.h.
//
// Decisions stay sequential: a caller asks one question at a time and says beside it what it will probably ask next.
// Idle workers judge that ahead of time. So the result is the same for any number of jobs, and only the time differs.
#pragma once
#include "reduce/journal.h"
#include "reduce/search_memory.h"
#include "reduce/search_under_way.h"
#include "reduce/turns.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// Leaves a reduction before it is through.
enum class EndedEarly {
  OutOfTime,      ///< its time budget is spent
  NothingAnswers, ///< one question after the other has no answer: what they want has gone for good
  /// A search for a hang has spent many time limits since it last found a better program. Where each operator doubles
  /// the time, all that is a little smaller works just within the limit, and would be waited for one by one.
  LimitsSpent,
};

class CandidateChecker final : public Checker {
public:
  CandidateChecker(const InterestingnessTest &test, Signature wanted, const ReduceOptions &options);

  const ReductionGoal &goal() const override { return goal_; }
  /// Remembers a Verdict that is known beforehand.
  void remember(const Program &program, const Verdict &verdict) { memory_.learn(canonical_hash(program), verdict); }
  /// The Verdict, asked of the sandbox or remembered. Blocks until it is known. One without an answer, however often it
  /// was asked, is not remembered. Throws Interrupted, EndedEarly.
  /// `likely_next` is tried ahead of time before what the Foresight names.
  const Verdict &check(const Program &program, const std::vector<LazyProgram> &likely_next) override;

  /// Who is asked what may come, while a worker has nothing to do. Called from within check().
  void foresee_with(MakeForesight make) { make_foresight_ = std::move(make); }
  /// Done once while the next check runs, which costs no time then; the latest only.
  void do_meanwhile(std::function<void()> work) { meanwhile_ = std::move(work); }

  // For code that looks ahead from within check():
  /// Returns what the answer would be now; null where it is not known yet.
  const Verdict *foreseen(const std::string &hash) const;
  /// The answer that this run has been told, however many jobs it has, and whatever an earlier one was told; null:
  /// nothing.
  const Verdict *told(const std::string &hash) const { return memory_.told(hash); }
  /// Returns the outcome of asking it in vain; null where that was not done.
  const Verdict *in_vain(const std::string &hash) const { return memory_.in_vain(hash); }
  /// True if the answer that check() waits for is there.
  bool answer_is_there() { return checks_.is_there(); }
  bool is_interrupted() const { return goal_.options.interrupted && goal_.options.interrupted(); }
  Guess guess_at(Program program, std::string hash, Assumptions assumed = {}) const;

  /// Asks the last candidates that did not fail again, each in a fresh process, where the goal's test has kept ones.
  /// Returns how many fail there; the search was misled by as many.
  int failing_afresh() const;

  /// Names what is being tried, for the journal and for progress.
  void set_pass(const std::string &name) { pass_ = name; }
  /// Says what is done next, until the first cut is made: from then on all is the search.
  void enter_phase(const std::string &phase) override;
  void enter_search();
  /// Sets the size of the best Program so far, which progress reports.
  void set_best(const ProgramSize &size) { best_ = size; }
  /// Says that there is a better Program: what was spent in vain before does not count any more.
  void found_better() { seconds_in_vain_ = 0; }

  const Tally &tally() const { return tally_; }
  bool is_over() const override { return is_interrupted(); }
  void leave_if_over() override {
    if (is_over())
      throw Interrupted{};
  }
  void before_recording() override {}
  int unanswered() const override { return tally_.unanswered(); }
  int questions_at_once() const override { return pool_.workers(); }

private:
  using Checks = ChecksUnderWay<Verdict>;

  const Verdict *recall(const std::string &hash);
  Job job_of(const Program &program) const;
  std::vector<LazyGuess> guesses_at(const std::vector<LazyProgram> &programs) const;
  Verdict wait_for(const Program &program, const std::string &hash, Upcoming &upcoming);
  bool passed_a_learned_limit(const Checks::Ended &ended) const;
  bool is_answer(const Checks::Ended &ended) const;
  void work_meanwhile();
  bool time_is_up() const;
  bool should_stop() const { return is_interrupted() || time_is_up(); }
  [[noreturn]] void stop() const;
  const Verdict &note_in_vain(const std::string &hash, const Verdict &verdict);
  const Verdict &write_down(const Program &program, const std::string &hash, const Verdict &verdict, double seconds);
  void report_progress() const;
  void count_in_vain(const Verdict &verdict);

  const ReductionGoal goal_;
  TaskGroup pool_;
  Memory<Verdict, Journal> memory_;
  Checks checks_;
  Tally tally_;
  LearnedTimeout timeout_;
  MakeForesight make_foresight_;
  std::function<void()> meanwhile_;
  bool searching_ = false;
  double seconds_in_vain_ = 0; ///< what candidates that do not hang took, since the last better Program
  std::string pass_;
  ProgramSize best_;
  std::deque<std::shared_ptr<const Program>> last_passed_; ///< the latest at the end; empty without fresh processes
};

} // namespace repro_minify
