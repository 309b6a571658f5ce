// Where do eager and optimised part? A table, JSON, and a picture.
#include "app/interruption.h"
#include "app/listening.h"
#include "app/options.h"
#include "emit/atomic_file.h"
#include "emit/page/page.h"
#include "minify/open_model.h"
#include "minify/output_folder.h"
#include "repro_minify/analysis.h"
#include "repro_minify/session.h"
#include "sandbox/command.h"
#include "support/log.h"
#include "support/number_text.h"
#include "support/text_table.h"

#include <torch/version.h>

#include <filesystem>
#include <iostream>

namespace repro_minify {
namespace {

constexpr const char *state_words[] = {"same", "DIFFERS", "RAISES", "-"};

std::string verdict_word(const AnalysisRow &row) {
  const char *part = row.part == AnalysisRow::Part::Cause     ? " (cause)"
                     : row.part == AnalysisRow::Part::Carrier ? " (carrier)"
                                                              : "";
  return std::string(state_words[static_cast<int>(row.state)]) + part;
}

void print_table_of(const Analysis &analysis) {
  std::vector<std::vector<std::string>> rows = {{"", "value", "operator", "type", "eager error", "opt. error",
                                                 "allowed x", "largest error", "verdict", "source"}};
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    const auto &row = analysis.rows[i];
    rows.push_back({analysis.first == static_cast<int>(i) ? ">" : "", clean(row.value), clean(row.op),
                    clean(row.report.ref_type), rounded_text(row.report.ref_error), rounded_text(row.report.res_error),
                    rounded_text(row.report.multiplier), rounded_text(row.report.max_abs_error), verdict_word(row),
                    clean(row.source)});
  }
  std::cout << table_text(rows);
}

void print_conclusion(const Analysis &analysis, const Verdict &original) {
  std::cout << '\n'
            << (analysis.way == Analysis::Way::Exposed
                    ? "Every value was returned by one program."
                    : "Each value was had from a program that ends there: " + clean(analysis.why) + ".")
            << " (" << analysis.checks << " checks)\n";
  if (analysis.first) {
    const auto &row = analysis.rows[*analysis.first];
    std::cout << "First to fail: " << clean(row.value) << " = " << clean(row.op)
              << (row.source.empty() ? "" : ", " + clean(row.source)) << "\n  " << clean(row.message) << '\n';
  } else if (original.outcome == Verdict::Outcome::Fail) {
    std::cout << "No value fails by itself: " << clean(original.message) << '\n';
  } else {
    std::cout << "Nothing fails.\n";
  }
}

/// SVG where Graphviz is installed; false where it is not, or fails.
bool draw(const std::string &dot_file, const std::string &svg_file) {
  const Outcome outcome = run_command({"dot", "-Tsvg", "-o", svg_file, dot_file}, std::chrono::minutes(2));
  return outcome.ending == Ending::Exited && outcome.exit_code == 0;
}

Analysis analyse(Session &session, const Verdict &original) {
  AnalyzeOptions options;
  options.check = session.check;
  options.limits = session.limits();
  options.jobs = session.options.jobs;
  options.shown_elements = 8;
  options.interrupted = session.options.listener.interrupted;
  options.progress = [&](int done, int of) { session.options.listener.count("analyze", done, of); };
  const Program program = flat_program(session, original);
  return analyze(program, original, session.backend, options);
}

void write_files(const Analysis &analysis, const Session &session, const std::string &folder) {
  write_analysis_page({.analysis = analysis,
                       .model = std::filesystem::path(session.model.path).filename().string(),
                       .backend = session.backend->name(),
                       .version = REPRO_MINIFY_VERSION,
                       .torch_version = TORCH_VERSION},
                      folder);
  write_atomically(folder + "/analysis.json", to_json(analysis) + "\n");
  write_atomically(folder + "/analysis.dot", to_dot(analysis));
  const std::string svg = folder + "/analysis.svg";
  if (!draw(folder + "/analysis.dot", svg))
    log::info("no analysis.svg: Graphviz's `dot` is not installed, or failed; analysis.dot has the same picture");
}

int run_analysis(const Options &options) {
  const std::string folder = output_folder(options, ".analysis");
  require_free(folder, options.force);
  ProgressPrinter progress(options.quiet, subject_of(options));
  MinifyOptions how = minify_options(options, progress);
  Session session(options.model, open_failing_graph(options.model, how));
  require_one_backend(session);
  const FailureRate rate = session.check_original();
  how.listener.throw_if_interrupted();
  require_checkable(session, rate.verdict);
  if (rate.verdict.eager_failed) {
    progress.finish();
    log::error(eager_problem(session, rate.verdict));
    return EagerNotReproducible;
  }
  warn_of_missing_reference(session, rate.verdict);
  const Analysis analysis = analyse(session, rate.verdict);
  progress.finish();
  make_folder(folder);
  write_files(analysis, session, folder);
  if (options.json) {
    std::cout << to_json(analysis) << '\n';
  } else {
    print_table_of(analysis);
    print_conclusion(analysis, rate.verdict);
    std::cout << folder << "/analysis.html\n";
  }
  return rate.verdict.outcome == Verdict::Outcome::Fail || analysis.first ? 1 : 0;
}

} // namespace

int analyze_command(const Options &options) {
  catch_signals();
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
