#include "repro_minify/analysis.h"

#include "analyze/intermediate.h"
#include "check/subject.h"
#include "repro_minify/sandbox.h"

#include <algorithm>
#include <deque>

namespace repro_minify {
namespace {

using State = AnalysisRow::State;

class Analyzer {
public:
  Analyzer(const Program &program, const Verdict &verdict, std::shared_ptr<const Backend> backend,
           const AnalyzeOptions &options)
      : options_(options), backend_(std::move(backend)),
        recording_(record(program, run_settings(*backend_, options.check), options.limits)),
        values_(intermediates(recording_)), as_the_whole_(values_.size()) {
    analysis_.verdict = verdict;
    describe_rows();
  }

  Analysis run() {
    analysis_.why = why_not_exposed();
    if (analysis_.why.empty() && !compare_exposed())
      analysis_.why = "returning every value makes the failure vanish: it changes what the backend does";
    if (!analysis_.why.empty()) {
      analysis_.way = Analysis::Way::Prefixes;
      compare_prefixes();
    }
    find_first();
    return std::move(analysis_);
  }

private:
  void describe_rows() {
    const auto reads = reads_of(values_);
    for (size_t i = 0; i < values_.size(); ++i) {
      AnalysisRow row;
      const torch::jit::Node *node = recording_.nodes[values_[i].node];
      row.value = "%" + values_[i].value->debugName();
      row.op = node->kind().toQualString();
      row.source = source_line(node);
      row.reads = reads[i];
      analysis_.rows.push_back(std::move(row));
    }
  }

  /// Why one program that returns every value cannot show this failure; empty when it can.
  std::string why_not_exposed() const {
    if (analysis_.verdict.outcome != Verdict::Outcome::Fail)
      return "";
    const Signature &signature = analysis_.verdict.signatures.front();
    if (!is_comparison(signature.kind))
      return "the backend raises or dies before there are values to compare";
    if (signature.where != "output")
      return "the failure shows in the " + signature.where + ", not in what forward returns";
    return "";
  }

  Verdict check_program(const Program &program) {
    ++analysis_.checks;
    return check(subject_for(std::make_shared<Program>(program), *backend_), backend_, options_.check, options_.limits);
  }

  /// False when the failure is not in it.
  bool compare_exposed() {
    const Verdict verdict = check_program(expose_all(recording_, values_));
    if (verdict.outputs.size() != values_.size())
      return values_.empty();
    const bool fails = analysis_.verdict.outcome == Verdict::Outcome::Fail;
    if (fails && !shows_at_an_output(verdict))
      return false;
    for (size_t i = 0; i < values_.size(); ++i) {
      LeafReport report = verdict.outputs[i];
      // "[17]" is where it stands among all values, which nobody asked for.
      if (report.message.rfind(report.path + ": ", 0) == 0)
        report.message.erase(0, report.path.size() + 2);
      report.path.clear();
      set_row(i, report);
    }
    return true;
  }

  /// Whether what the program itself returns is wrong there too, in the same way.
  bool shows_at_an_output(const Verdict &verdict) const {
    const auto kind = analysis_.verdict.signatures.front().kind;
    const auto outputs = recording_.program.graph->outputs();
    for (size_t i = 0; i < values_.size(); ++i)
      if (std::find(outputs.begin(), outputs.end(), values_[i].value) != outputs.end())
        if (const auto &kinds = verdict.outputs[i].kinds; std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
          return true;
    return false;
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
    as_the_whole_[i] =
        analysis_.verdict.outcome == Verdict::Outcome::Fail && shows(verdict, analysis_.verdict.signatures.front());
    row.message = verdict.message;
    if (verdict.outcome == Verdict::Outcome::Unresolved)
      row.state = State::Unknown;
    else if (verdict.outcome == Verdict::Outcome::Pass)
      row.state = State::Same;
    else
      row.state = is_comparison(verdict.signatures.front().kind) ? State::Differs : State::Raises;
  }

  bool raises() const {
    return analysis_.verdict.outcome == Verdict::Outcome::Fail &&
           !is_comparison(analysis_.verdict.signatures.front().kind);
  }

  /// What raises goes on raising in longer prefixes, so halving finds where it begins; values have errors, and each is
  /// wanted.
  void compare_prefixes() {
    if (raises())
      halve();
    else
      compare_each_prefix();
  }

  void halve() {
    int passes = -1, fails = static_cast<int>(values_.size());
    while (fails - passes > 1) {
      const int middle = passes + (fails - passes) / 2;
      set_row(middle, check_program(prefix(recording_, values_[middle])));
      report_progress(analysis_.checks, 0);
      (as_the_whole_[middle] ? fails : passes) = middle;
    }
  }

  void compare_each_prefix() {
    SandboxPool pool(options_.jobs);
    std::deque<std::pair<size_t, SandboxPool::Ticket>> running;
    for (size_t next = 0; next < values_.size() || !running.empty();) {
      while (next < values_.size() && static_cast<int>(running.size()) < options_.jobs) {
        const auto subject = subject_for(std::make_shared<Program>(prefix(recording_, values_[next])), *backend_);
        running.emplace_back(next++, pool.submit(check_job(subject, backend_, options_.check), options_.limits));
        ++analysis_.checks;
      }
      const auto outcome = pool.wait(running.front().second, options_.interrupted);
      if (!outcome)
        throw Interrupted{};
      const Verdict verdict = verdict_of(*outcome);
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

  /// What raises another exception than the whole program, or is wrong in passing on the way to one, is not where this
  /// failure begins.
  void find_first() {
    for (size_t i = 0; i < analysis_.rows.size() && !analysis_.first; ++i)
      if (raises() ? as_the_whole_[i] : analysis_.rows[i].state == State::Differs)
        analysis_.first = static_cast<int>(i);
  }

  const AnalyzeOptions &options_;
  std::shared_ptr<const Backend> backend_;
  Recording recording_;
  std::vector<Intermediate> values_;
  std::vector<bool> as_the_whole_; ///< by row: the program that ends there has the Signature of the whole one
  Analysis analysis_;
};

} // namespace

Analysis analyze(const Program &program, const Verdict &verdict, std::shared_ptr<const Backend> backend,
                 const AnalyzeOptions &options) {
  return Analyzer(program, verdict, std::move(backend), options).run();
}

} // namespace repro_minify
