#include "repro_minify/analysis.h"

#include "check/compare_runs.h"
#include "check/device_service.h"
#include "program/values.h"
#include "repro/intermediate.h"
#include "repro/shown_value.h"
#include "repro_minify/backend_parts.h"
#include "tasks/sandbox.h"

#include <algorithm>
#include <deque>

namespace repro_minify {
namespace {

using State = AnalysisRow::State;

/// Returns a job that checks and, if `elements` > 0, adds a line to its reply with so many elements of each value of
/// both sides, as they are in the call that failed.
Job check_and_show(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend,
                   const CheckOptions &options, int elements) {
  return [=](Child &child) {
    child.confine(confinement_of(*backend));
    const Verdict verdict = check_here(factory, *backend, options, child);
    child.reply(to_json(verdict));
    if (elements <= 0)
      return;
    child.stage("shown");
    ShowOptions show;
    show.call = std::max(1, verdict.failing_call);
    show.elements = elements;
    child.reply("\n" + show_here(factory, *backend, options, show));
  };
}

} // namespace

class Analyzer::Impl {
public:
  Impl(std::shared_ptr<const Recording> recording, const Verdict &verdict, std::shared_ptr<const Backend> backend,
       const AnalyzeOptions &options)
      : options_(options), backend_(std::move(backend)), held_(std::move(recording)), recording_(*held_),
        values_(intermediates(recording_)), as_the_whole_(values_.size()), analysis_(outline(recording_)) {
    analysis_.verdict = verdict;
    analysis_.is_compared = true;
    options_.check.measure_always = true; // each value's errors are what the picture shows
    analysis_.why = why_not_exposed();
    if (analysis_.why.empty())
      expose();
  }

  Analysis end() {
    if (analysis_.why.empty() && !compare_exposed())
      analysis_.why = "returning every value makes the failure vanish: it changes what the backend does";
    if (analysis_.why.empty() && !confirm_causes())
      analysis_.why = "returning every value makes others wrong: it changes what the backend does";
    if (!analysis_.why.empty()) {
      analysis_.way = Analysis::Way::Prefixes;
      compare_prefixes();
    }
    if (fails())
      find_causes(analysis_, as_the_whole_);
    return std::move(analysis_);
  }

private:
  bool fails() const { return analysis_.verdict.outcome == Verdict::Outcome::Fail; }

  /// True if so many checks are within AnalyzeOptions::most_checks.
  bool may_check(size_t checks) const {
    return options_.most_checks == 0 || checks <= static_cast<size_t>(options_.most_checks);
  }

  /// Why one program that returns every value cannot show this failure; empty when it can.
  std::string why_not_exposed() const {
    if (!fails())
      return "";
    const Signature &signature = analysis_.verdict.signatures.front();
    if (!is_comparison(signature.kind))
      return "the backend raises or dies before there are values to compare";
    if (signature.where != "output")
      return "the failure shows in the " + signature.where + ", not in what forward returns";
    if (options_.most_values > 0 && values_.size() > static_cast<size_t>(options_.most_values))
      return "there are too many values to return all at once";
    return "";
  }

  Verdict check_program(const Program &program) {
    ++analysis_.checks;
    return check(factory_for(std::make_shared<Program>(program), *backend_), backend_, options_.check, options_.limits);
  }

  /// Starts the check that compare_exposed() waits for.
  void expose() {
    exposed_ = std::make_shared<Program>(expose_all(recording_, values_));
    const Job job = check_and_show(factory_for(exposed_, *backend_), backend_, options_.check, options_.shown_elements);
    asked_ = std::make_unique<Task<JobEnd>>(job, options_.limits);
    ++analysis_.checks;
  }

  /// Waits for a task. Throws Interrupted.
  JobEnd end_of(Task<JobEnd> &task) const {
    JobEnd job_end = task.wait(options_.interrupted);
    if (job_end.ending == Ending::Cancelled)
      throw Interrupted{};
    return job_end;
  }

  /// Returns the answer of check_and_show(). Fills `shown` with the values of both sides, where the answer has them.
  Verdict verdict_and_values(Task<JobEnd> &task, const Program &program, BothSides &shown) {
    JobEnd job_end = end_of(task);
    if (const auto end = job_end.reply.find('\n'); end != std::string::npos) {
      shown = both_sides_from(job_end.reply.substr(end));
      job_end.reply.resize(end);
    }
    const Verdict verdict = verdict_of(job_end);
    return verdict.no_answer ? check_program(program) : verdict;
  }

  /// Fills the rows from the program that returns every value. Returns false if that program does not fail as the whole
  /// one does.
  bool compare_exposed() {
    BothSides shown;
    const Verdict verdict = verdict_and_values(*asked_, *exposed_, shown);
    if (verdict.outputs.size() != values_.size())
      return values_.empty();
    if (fails() && !shows_at_an_output(verdict))
      return false;
    for (size_t i = 0; i < values_.size(); ++i) {
      LeafReport report = verdict.outputs[i];
      // "[17]" is its position among all values, which is of no use to a reader.
      if (report.message.rfind(report.path + ": ", 0) == 0)
        report.message.erase(0, report.path.size() + 2);
      report.path.clear();
      set_row(i, report);
    }
    show_values(std::move(shown));
    return true;
  }

  void show_values(BothSides sides) {
    if (sides.outputs.size() == values_.size())
      for (size_t i = 0; i < values_.size(); ++i)
        analysis_.rows[i].shown = std::move(sides.outputs[i]);
  }

  /// True if an output of the program itself is wrong there too, in the same way.
  bool shows_at_an_output(const Verdict &verdict) const {
    const auto kind = analysis_.verdict.signatures.front().kind;
    const auto outputs = recording_.program.graph->outputs();
    for (size_t i = 0; i < values_.size(); ++i)
      if (std::find(outputs.begin(), outputs.end(), values_[i].value) != outputs.end())
        if (const auto &kinds = verdict.outputs[i].kinds; std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
          return true;
    return false;
  }

  /// Asks again, in a program that ends there, about each row that would be a cause: a program that returns every value
  /// is another program, and a backend can be wrong in that one alone. Returns false if no failure is left.
  bool confirm_causes() {
    std::vector<char> is_wrong(values_.size());
    bool any = false;
    for (size_t i = 0; i < values_.size(); ++i) {
      const bool is_carried = reads_wrong(analysis_.rows[i], is_wrong);
      if (analysis_.rows[i].state == State::Differs && !is_carried)
        confirm(i);
      is_wrong[i] = is_bad(analysis_.rows[i]) || (is_carried && analysis_.rows[i].state == State::Unknown);
      any |= is_wrong[i];
    }
    return any || !fails();
  }

  /// Keeps a row that differs, or sets that it does not. The check of the whole program has the answer for a value that
  /// the program itself returns; for another one a program that ends there is checked.
  void confirm(size_t i) {
    if (const LeafReport *leaf = as_returned(i); leaf && !leaf->same)
      return;
    AnalysisRow &row = analysis_.rows[i];
    if (!may_check(static_cast<size_t>(analysis_.checks) + 1)) {
      row.state = State::Unknown;
      row.message = "differs where every value is returned; a program that ends here was not asked";
      return;
    }
    report_progress(analysis_.checks, 0);
    const auto program = std::make_shared<Program>(prefix(recording_, values_[i]));
    const Job job = check_and_show(factory_for(program, *backend_), backend_, options_.check, options_.shown_elements);
    ++analysis_.checks;
    BothSides shown;
    const AnalysisRow as_exposed = row;
    Task<JobEnd> ending_here(job, options_.limits);
    set_row(i, verdict_and_values(ending_here, *program, shown));
    if (fails() && row.state == State::Same && is_passed_on(i)) {
      row = as_exposed;
      return;
    }
    row.shown = shown.outputs.size() == 1 ? std::move(shown.outputs.front()) : ShownValue{};
    if (row.state == State::Same)
      row.message = "agrees in a program that ends here; where every value is returned it differs";
  }

  /// True if every wrong value that is made from this one is what eager makes of it as it was found: then this one is
  /// wrong, although it is not in a program that ends here, as a backend fuses from two operators on.
  bool is_passed_on(size_t i) {
    bool any = false;
    for (size_t reader = i + 1; reader < values_.size(); ++reader) {
      const auto &reads = analysis_.rows[reader].reads;
      if (analysis_.rows[reader].state != State::Differs ||
          std::find(reads.begin(), reads.end(), static_cast<int>(i)) == reads.end())
        continue;
      if (!explained().at(reader))
        return false;
      any = true;
    }
    return any;
  }

  /// Returns, by row, whether the optimised value follows from the optimised values before it. Runs it once.
  const std::vector<char> &explained() {
    if (explained_.empty()) {
      const int call = std::max(1, analysis_.verdict.failing_call);
      const Job job = explain_job(exposed_, backend_, options_.check, values_, call);
      Task<JobEnd> task(job, options_.limits);
      explained_ = explained_from(end_of(task).reply, values_.size());
      ++analysis_.checks;
    }
    return explained_;
  }

  /// The report that the check of the whole program has of this value; null where the program does not return it.
  const LeafReport *as_returned(size_t i) const {
    const auto outputs = recording_.program.graph->outputs();
    if (outputs.size() != analysis_.verdict.outputs.size())
      return nullptr; // lists, which have their leaves elsewhere
    const auto at = std::find(outputs.begin(), outputs.end(), values_[i].value);
    return at == outputs.end() ? nullptr : &analysis_.verdict.outputs[static_cast<size_t>(at - outputs.begin())];
  }

  void set_row(size_t i, const LeafReport &report) {
    analysis_.rows[i].report = report;
    analysis_.rows[i].state = report.same ? State::Same : State::Differs;
    analysis_.rows[i].message = report.message;
  }

  void set_row(size_t i, const Verdict &verdict) {
    AnalysisRow &row = analysis_.rows[i];
    if (!verdict.outputs.empty())
      set_row(i, verdict.outputs.front());
    as_the_whole_[i] = fails() && shows(verdict, analysis_.verdict.signatures.front());
    row.message = verdict.message;
    if (verdict.outcome == Verdict::Outcome::Unresolved)
      row.state = State::Unknown;
    else if (verdict.outcome == Verdict::Outcome::Pass)
      row.state = State::Same;
    else if (is_comparison(verdict.signatures.front().kind) && !row.report.same)
      row.state = State::Differs;
    else
      row.state = State::Fails;
  }

  bool raises() const { return fails() && !is_comparison(analysis_.verdict.signatures.front().kind); }

  /// Checks programs that end at one value each: all of them where values are compared, and by halves where the program
  /// raises, until it is known where that begins.
  void compare_prefixes() {
    size_t halvings = 1;
    while ((size_t{1} << halvings) <= values_.size())
      ++halvings;
    analysis_.is_compared = may_check(raises() ? halvings : values_.size());
    if (!analysis_.is_compared)
      return;
    if (raises())
      halve();
    else
      compare_each_prefix();
  }

  /// Finds where the program begins to raise. A prefix that contains what raises raises too; a longer one beside it
  /// does not, and then the rows left are halved again.
  void halve() {
    was_asked_.assign(values_.size(), 0);
    std::optional<size_t> failing;
    while (true) {
      std::vector<size_t> among = rows_left_to_ask(analysis_, as_the_whole_, failing);
      std::erase_if(among,
                    [&](size_t row) { return was_asked_[row] != 0; }); // it has no answer, and would have none again
      if (among.empty() || (analysis_.checks > 0 && !may_check(static_cast<size_t>(analysis_.checks) + 1)))
        return;
      if (const size_t place = first_that_raises(among); place < among.size())
        failing = among[place];
    }
  }

  /// Returns the position in `among` of the first row that raises as the whole program does, found by bisection; its
  /// size if none of those checked does.
  size_t first_that_raises(const std::vector<size_t> &among) {
    size_t passes = 0, fails = among.size(); // the first `passes` of them
    while (fails > passes) {
      const size_t middle = passes + (fails - passes) / 2, value = among[middle];
      set_row(value, check_program(prefix(recording_, values_[value])));
      was_asked_[value] = 1;
      report_progress(analysis_.checks, 0);
      if (as_the_whole_[value])
        fails = middle;
      else
        passes = middle + 1;
    }
    return fails;
  }

  void compare_each_prefix() {
    TaskGroup checks(options_.jobs);
    const auto service = device_service(backend_, options_.check);
    std::deque<std::pair<size_t, TaskGroup::Ticket>> running;
    for (size_t next = 0; next < values_.size() || !running.empty();) {
      while (next < values_.size() && static_cast<int>(running.size()) < options_.jobs) {
        const auto program = std::make_shared<const Program>(prefix(recording_, values_[next]));
        Job job =
            service ? check_by(service, program) : check_job(factory_for(program, *backend_), backend_, options_.check);
        running.emplace_back(next++, checks.submit(std::move(job), options_.limits));
        ++analysis_.checks;
      }
      const auto job_end = checks.wait(running.front().second, options_.interrupted);
      if (!job_end)
        throw Interrupted{};
      const Verdict verdict = verdict_of(*job_end);
      set_row(running.front().first,
              verdict.no_answer ? check_program(prefix(recording_, values_[running.front().first])) : verdict);
      running.pop_front();
      report_progress(static_cast<int>(next), static_cast<int>(values_.size()));
    }
  }

  void report_progress(int done, int of) const {
    if (options_.interrupted && options_.interrupted())
      throw Interrupted{};
    if (options_.progress)
      options_.progress(done, of);
  }

  AnalyzeOptions options_;
  std::shared_ptr<const Backend> backend_;
  const std::shared_ptr<const Recording> held_;
  const Recording &recording_;
  std::vector<Intermediate> values_;
  std::vector<char> was_asked_;    ///< by row: halve() has checked the program that ends there
  std::vector<bool> as_the_whole_; ///< by row: the program that ends there has the Signature of the whole one
  Analysis analysis_;
  std::vector<char> explained_;            ///< by row, once asked for
  std::shared_ptr<const Program> exposed_; ///< what returns every value; null where nothing is to be had of that
  std::unique_ptr<Task<JobEnd>> asked_;
};

Analyzer::Analyzer(const Verdict &verdict, std::shared_ptr<const Backend> backend, const AnalyzeOptions &options,
                   std::shared_ptr<const Recording> recording)
    : impl_(std::make_unique<Impl>(std::move(recording), verdict, std::move(backend), options)) {}

Analyzer::~Analyzer() = default;

Analysis Analyzer::take() {
  return impl_->end();
}

Analysis analyze(const Program &program, const Verdict &verdict, std::shared_ptr<const Backend> backend,
                 const AnalyzeOptions &options) {
  auto recording = std::make_shared<Recording>(record(program, run_settings(*backend, options.check), options.limits));
  return Analyzer(verdict, std::move(backend), options, std::move(recording)).take();
}

} // namespace repro_minify
