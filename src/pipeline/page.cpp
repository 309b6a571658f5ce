// report.html. What it shows of what the search began with is seconds of checks where the backend compiles for that
// long, so they run beside other work.
#include "report/page.h"
#include "pipeline/minify_job.h"
#include "program/compute.h"

namespace repro_minify {
namespace {

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
