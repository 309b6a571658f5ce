#include "pipeline/analyze_model.h"

#include "report/page.h"
#include "repro/atomic_file.h"
#include "tasks/sandboxed_command.h"

#include <torch/version.h>

#include <filesystem>

namespace repro_minify {
namespace {

/// SVG where Graphviz is installed; false where it is not, or fails.
bool draw(const std::string &dot_file, const std::string &svg_file) {
  const JobEnd job_end = run_command({"dot", "-Tsvg", "-o", svg_file, dot_file}, std::chrono::minutes(2));
  return job_end.ending == Ending::Exited && job_end.exit_code == 0;
}

} // namespace

Analysis analyze_model(Session &session, const Verdict &original) {
  AnalyzeOptions options;
  options.check = session.check;
  options.limits = session.limits();
  options.jobs = session.options.jobs;
  options.shown_elements = 16;
  options.interrupted = session.options.listener.interrupted;
  options.progress = [&](int done, int of) { session.options.listener.count("analyze", done, of); };
  const Program program = flat_program(session, original);
  return analyze(program, original, session.backend, options);
}

void write_analysis(const Analysis &analysis, const Session &session, const std::string &folder) {
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
    session.options.listener.say(
        Severity::Info,
        "no analysis.svg: Graphviz's `dot` is not installed, or failed; analysis.dot has the same picture");
}

} // namespace repro_minify
