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
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace repro_minify {

/// Leaves a reduction whose time budget is spent.
struct OutOfTime {};
/// Leaves a reduction in which one question after the other has no answer: what they want has gone for good.
struct NothingAnswers {};

/// Leaves a rehearsal at the first question that is neither answered nor has an assumed answer.
struct OpenQuestion {
  Program program;
  std::string hash;
};
/// Leaves a rehearsal: the answer that was waited for meanwhile is there.
struct RehearsalOver {};

/// By a question's hash: whether it is assumed to be answered yes.
using Assumptions = std::map<std::string, bool>;

/// A question that may be asked, if the answers to others are as assumed.
struct Guess {
  Program program;
  std::string hash;
  Assumptions assumed;
};

/// Says what may be asked after the question that is asked now.
class Foresight {
public:
  virtual ~Foresight() = default;
  /// The likeliest of those that were not named yet; nothing when none is left that is worth it.
  virtual std::optional<Guess> next() = 0;
};

/// Says how long the reduction takes still.
class Outlook {
public:
  virtual ~Outlook() = default;
  /// What is known now, while a check runs.
  virtual void look(double elapsed_seconds, const CostModel &cost) = 0;
  /// Nothing where nobody can tell.
  virtual std::optional<double> seconds_left(double elapsed_seconds) const = 0;
};

class Judge {
public:
  /// A Program made when a worker is free for it.
  using LazyProgram = std::function<Program()>;
  using MakeForesight = std::function<std::unique_ptr<Foresight>()>;
  /// Answers a question that is not known.
  using Decide = std::function<bool(const Program &)>;

  Judge(const InterestingnessTest &test, Signature wanted, const ReduceOptions &options);

  /// What is known beforehand.
  void remember(const Program &program, const Verdict &verdict) { known_.emplace(canonical_hash(program), verdict); }
  /// Whether this Verdict is the failure that is looked for.
  bool is_wanted(const Verdict &verdict) const { return shows(verdict, wanted_, options_.same_failure); }
  /// The Verdict, asked of the sandbox or remembered. Blocks until it is known. One without an answer, however often it
  /// was asked, is not remembered. Throws Interrupted, OutOfTime, NothingAnswers.
  /// `likely_next` is tried ahead of time before what the Foresight names.
  const Verdict &judge(const Program &program, const std::vector<LazyProgram> &likely_next = {});

  /// Who is asked what may come, while a worker has nothing to do. Called from within judge().
  void foresee_with(MakeForesight make) { make_foresight_ = std::move(make); }
  /// Who says how long it will take. Looks while a check runs, from within judge(); it has to live as long.
  void tell_with(Outlook &outlook) { outlook_ = &outlook; }
  /// While it lives, judge() runs nothing: it answers from memory and from `assumed` (`yes` is the Verdict for yes),
  /// and throws OpenQuestion beyond, RehearsalOver once the question that is really asked has its answer. With `decide`
  /// nothing is open.
  class Assuming {
  public:
    Assuming(Judge &judge, Assumptions assumed, const Verdict &yes, Decide decide = {}) : judge_(judge) {
      judge_.rehearsed_ = Rehearsed{std::move(assumed), &yes, std::move(decide)};
    }
    ~Assuming() { judge_.rehearsed_.reset(); }
    Assuming(const Assuming &) = delete;
    Assuming &operator=(const Assuming &) = delete;

  private:
    Judge &judge_;
  };

  /// Done once while the next check runs, which costs no time then; the latest only.
  void do_meanwhile(std::function<void()> work) { meanwhile_ = std::move(work); }

  /// Names what is being tried, for the journal and for progress.
  void set_pass(const std::string &name) { pass_ = name; }
  /// Says what is done next, until the first cut is made: from then on all is the search.
  void enter_phase(const std::string &phase) {
    if (options_.on_phase && !rehearsed_ && !searching_)
      options_.on_phase(phase);
  }
  void enter_search() {
    enter_phase("search");
    searching_ = true;
  }
  /// What progress is reported of.
  void set_best(const ProgramSize &size) { best_ = size; }

  /// Questions that had no answer, and why; each reason once.
  int unanswered() const { return unanswered_; }
  const std::set<std::string> &reasons() const { return reasons_; }

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
  struct Rehearsed {
    Assumptions assumed;
    const Verdict *yes;
    Decide decide;
  };
  struct Running {
    SandboxPool::Ticket ticket;
    Assumptions assumed; ///< it may be asked if these hold
    int likely_at;       ///< number of the last question that it was thought to follow
    std::chrono::milliseconds timeout;
  };
  /// What came of a check under that limit.
  struct Ended {
    Outcome outcome;
    std::chrono::milliseconds timeout;
  };
  /// Of a guess that ended before anybody asked.
  struct Early {
    Ended ended;
    Verdict verdict;
  };

  const Verdict *known(const std::string &hash) const;
  const Verdict *remembered(const std::string &hash);
  const Verdict &rehearse(const Program &program, const std::string &hash);
  void start(const Program &program, const std::string &hash, const Assumptions &assumed,
             std::chrono::milliseconds timeout);
  void keep_busy(Upcoming &upcoming);
  void start_guess(const Guess &guess);
  void take_early_answers();
  bool contradicts(const Assumptions &assumed) const;
  void stop_disproved();
  void stop_unlikely(Upcoming &upcoming);
  void make_room(Upcoming &upcoming);
  void cancel(const std::string &hash);
  Verdict wait_for(const Program &program, const std::string &hash, Upcoming &upcoming);
  Verdict wait_for_one(const Program &program, const std::string &hash, Upcoming &upcoming);
  std::optional<Ended> take(const std::string &hash, const std::function<bool()> &stop);
  bool passed_a_learned_limit(const Ended &ended) const;
  bool is_answer(const Ended &ended, const Verdict &verdict) const;
  void be_alone();
  bool should_stop() const;
  [[noreturn]] void stop() const;
  const Verdict &note_unanswered(const std::string &hash, const Verdict &verdict);
  void write_down(const Program &program, const std::string &hash, const Verdict &verdict);
  bool cannot_fail(const Program &program) const;
  bool time_is_up() const;
  bool rehearses_too_long();
  void look_ahead();

  InterestingnessTest test_;
  Signature wanted_;
  ReduceOptions options_;
  SandboxPool pool_;
  LearnedTimeout timeout_;
  CostModel cost_;
  std::map<std::string, Verdict> known_;
  std::map<std::string, Verdict> without_answer_; ///< the last time that each was asked; never in place of an answer
  std::map<std::string, Running> running_;
  std::map<std::string, Early> early_;
  MakeForesight make_foresight_;
  std::optional<Rehearsed> rehearsed_;
  std::function<void()> meanwhile_;
  Outlook *outlook_ = nullptr;
  int looked_during_ = 0;                 ///< the number of a question
  double looked_seconds_ = 0;             ///< all in all
  double overtime_ = 0;                   ///< of these, how long answers had to wait
  std::optional<double> answer_there_at_; ///< since when one waits
  double last_answer_at_ = 0;
  std::string asked_; ///< hash of the question that is asked now
  int question_ = 0;  ///< its number
  bool searching_ = false;
  std::string pass_;
  ProgramSize best_;
  int checks_ = 0, cached_ = 0, started_ = 0;
  int unanswered_ = 0, unanswered_in_a_row_ = 0;
  std::set<std::string> reasons_;
  double check_seconds_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace repro_minify
