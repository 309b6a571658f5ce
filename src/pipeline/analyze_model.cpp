#include "pipeline/analyze_model.h"

#include "pipeline/minify_job.h"
#include "program/compute.h"
#include "repro/page.h"
#include "repro/results_folder.h"
#include "tasks/sandbox.h"

#include <filesystem>

namespace repro_minify {
namespace {

/// SVG where Graphviz is installed; false where it is not, or fails.
bool draw(const std::string &dot_file, const std::string &svg_file) {
  const JobEnd job_end = run_command({"dot", "-Tsvg", "-o", svg_file, dot_file}, std::chrono::minutes(2));
  return job_end.ending == Ending::Exited && job_end.exit_code == 0;
}

/// With its values; null where they cannot be had.
std::shared_ptr<const Recording> recording_of_original(const MinifyJob &job) {
  if (job.flattened->recording)
    return job.flattened->recording;
  try {
    return std::make_shared<Recording>(record(job.flattened->program, job.session.settings(), job.session.limits()));
  } catch (const std::exception &) { // then there is no picture of it
    return nullptr;
  }
}

ReportPage page_of(const MinifyJob &job, const Program &program) {
  ReportPage page{.program = program, .facts = job.facts};
  page.passing = job.passing;
  page.course = job.course;
  page.limits = job.session.limits();
  page.may_run = !job.facts.interrupted && !job.options().listener.stops() && !job.has_oracle();
  page.interrupted = job.options().listener.interrupted;
  return page;
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
  const std::string model = std::filesystem::path(session.shown_path()).filename().string();
  write_analysis_page(analysis, model, session.backend->name(), folder);
  write_atomically(folder + "/analysis.json", to_json(analysis) + "\n");
  write_atomically(folder + "/analysis.dot", to_dot(analysis));
  const std::string svg = folder + "/analysis.svg";
  if (!draw(folder + "/analysis.dot", svg))
    session.options.listener.say(
        Severity::Info,
        "no analysis.svg: Graphviz's `dot` is not installed, or failed; analysis.dot has the same picture");
}

// report.html. What it shows of what the search began with is seconds of checks where the backend compiles for that
// long, so they run beside other work.

void begin_picture(MinifyJob &job) {
  job.picture.emplace();
  if (!job.flattened)
    return;
  job.picture->original = recording_of_original(job);
  ReportPage page = page_of(job, job.flattened->program);
  page.original = job.picture->original;
  job.picture->analysis = begin_original(page, job.flattened->verdict);
}

/// Nice to look at: it never stands in the way of the repro.
void write_page(MinifyJob &job, const Program &program) {
  ReportPage page = page_of(job, program);
  if (!job.facts.interrupted && !job.options().listener.stops()) { // no picture once the run is to end
    if (!job.picture)
      begin_picture(job);
    page.original = job.picture->original;
    page.original_analysis = job.picture->analysis;
  }
  try {
    write_report_page(page, job.folder);
  } catch (const UserError &) {
    throw;
  } catch (const std::exception &error) {
    job.say(Severity::Warning, std::string("no report.html: ") + first_sentence(error.what()));
  }
}

} // namespace repro_minify
