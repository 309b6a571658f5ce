// Where do eager and optimised part? A table, JSON, and a picture.
#include "backends/backend_registry.h"
#include "cli/interruption.h"
#include "cli/options.h"
#include "cli/progress_printer.h"
#include "core/log.h"
#include "core/number_text.h"
#include "core/text.h"
#include "pipeline/analyze_model.h"
#include "pipeline/minify_job.h"
#include "pipeline/open_model.h"
#include "repro/intermediate.h"
#include "repro_minify/analysis.h"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace repro_minify {
namespace {

constexpr const char *state_words[] = {"same", "DIFFERS", "FAILS", "-"};

std::string verdict_word(const AnalysisRow &row) {
  const std::string state = state_words[static_cast<int>(row.state)];
  if (row.state == AnalysisRow::State::Fails && row.part == AnalysisRow::Part::Cause)
    return state + " here";
  return row.part == AnalysisRow::Part::None ? state : state + " (" + word_of(row) + ")";
}

std::string table_of(const Analysis &analysis) {
  std::vector<std::vector<std::string>> rows = {{"", "value", "operator", "type", "eager error", "opt. error",
                                                 "allowed x", "largest error", "verdict", "source"}};
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    const auto &row = analysis.rows[i];
    rows.push_back({analysis.first == static_cast<int>(i) ? ">" : "", clean(row.value), clean(row.op),
                    clean(row.report.ref_type), rounded_text(row.report.ref_error), rounded_text(row.report.res_error),
                    rounded_text(row.report.multiplier), rounded_text(row.report.max_abs_error), verdict_word(row),
                    clean(row.source)});
  }
  return table_text(rows);
}

void write_conclusion(std::ostream &out, const Analysis &analysis, const Verdict &original) {
  out << '\n' << clean(sentence_on_way(analysis)) << " (" << counted(analysis.checks, "check") << ")\n";
  if (analysis.first) {
    const auto &row = analysis.rows[*analysis.first];
    out << "First to fail: " << clean(row.value) << " = " << clean(row.op)
        << (row.source.empty() ? "" : ", " + clean(row.source)) << "\n  " << clean(row.message) << '\n';
  } else if (original.outcome == Verdict::Outcome::Fail) {
    out << "No value fails by itself: " << clean(original.message) << '\n';
  } else {
    out << "Nothing fails.";
    if (const auto odd = std::count_if(analysis.rows.begin(), analysis.rows.end(), is_bad); odd > 0) // alone
      out << " (" << odd << " of the values inside fail in a program that ends there; no result of the model does.)";
    out << '\n';
  }
}

/// A table with a row for each value, and in a sentence which one failed first. `original`: the Verdict on the model.
std::string analysis_text(const Analysis &analysis, const Verdict &original) {
  std::ostringstream out;
  out << table_of(analysis);
  write_conclusion(out, analysis, original);
  return out.str();
}

int analyze_as(const MinifyOptions &how, const Options &options, const std::string &folder, ProgressPrinter &progress) {
  Session session(options.model, how);
  require_one_backend(session);
  const FailureRate rate = session.check_original();
  how.listener.throw_if_interrupted();
  if (const auto own = options_with_own_generator(session, rate))
    return analyze_as(*own, options, folder, progress);
  require_checkable(session, rate.verdict);
  if (rate.verdict.eager_failed) {
    progress.finish();
    log::error(eager_problem(session, rate.verdict));
    return EagerNotReproducible;
  }
  warn_of_missing_reference(session, rate.verdict);
  const Analysis analysis = analyze_model(session, rate.verdict);
  progress.finish();
  make_folder(folder);
  write_analysis(analysis, session, folder);
  if (options.json) {
    std::cout << to_json(analysis) << '\n';
  } else {
    std::cout << analysis_text(analysis, rate.verdict) << folder << "/analysis.html\n";
  }
  return rate.failed >= options.need ? 1 : 0;
}

int run_analysis(const Options &options) {
  require_known_backends(split_backend_names(options.backends)); // before a folder is complained of
  const std::string folder = output_folder(options, ".analysis");
  require_free(folder, options.force);
  ProgressPrinter progress(options.quiet, factory_of(options));
  const auto opened = open_one_graph(options.model, minify_options(options, progress));
  if (!opened)
    throw UserError(none_fails(options.model));
  return analyze_as(*opened, options, folder, progress);
}

} // namespace

int analyze_command(const Options &options) {
  try {
    return run_analysis(options);
  } catch (const Interrupted &) {
  } catch (const std::exception &) {
    if (!stop_requested()) // what was cut short may complain
      throw;
  }
  log::warning("interrupted; nothing was written");
  return InterruptedByUser;
}

} // namespace repro_minify
