// report.html. What it shows of what the search began with is seconds of checks where the backend compiles for that
// long, so they run beside other work.
#include "emit/page/page.h"
#include "minify/work.h"
#include "program/compute.h"

namespace repro_minify {
namespace {

/// With its values; null where they cannot be had.
std::shared_ptr<const Recording> recording_of_original(const Work &work) {
  if (work.flattened->recording)
    return work.flattened->recording;
  try {
    return std::make_shared<Recording>(record(work.flattened->program, work.session.settings(), work.session.limits()));
  } catch (const std::exception &) { // then there is no picture of it
    return nullptr;
  }
}

ReportPage page_of(const Work &work, const Program &program) {
  ReportPage page{.program = program, .facts = work.facts};
  page.passing = work.passing;
  page.course = work.course;
  page.limits = work.session.limits();
  page.may_run = !work.facts.interrupted && !work.options().listener.stops() && !work.has_oracle();
  page.interrupted = work.options().listener.interrupted;
  return page;
}

} // namespace

void begin_picture(Work &work) {
  work.picture.emplace();
  if (!work.flattened)
    return;
  work.picture->original = recording_of_original(work);
  ReportPage page = page_of(work, work.flattened->program);
  page.original = work.picture->original;
  work.picture->analysis = begin_original(page, work.flattened->verdict);
}

/// Nice to look at: it never stands in the way of the repro.
void write_page(Work &work, const Program &program) {
  ReportPage page = page_of(work, program);
  if (!work.facts.interrupted && !work.options().listener.stops()) { // no picture once the run is to end
    if (!work.picture)
      begin_picture(work);
    page.original = work.picture->original;
    page.original_analysis = work.picture->analysis;
  }
  try {
    write_report_page(page, work.folder);
  } catch (const UserError &) {
    throw;
  } catch (const std::exception &error) {
    work.say(Severity::Warning, std::string("no report.html: ") + first_sentence(error.what()));
  }
}

} // namespace repro_minify
