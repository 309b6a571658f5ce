// What report.html shows of what the search began with. Its values are seconds of checks where the backend compiles for
// that long, so they run beside other work.
#include "emit/page/page.h"
#include "minify/work.h"

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

} // namespace

void begin_picture(Work &work) {
  work.picture.emplace();
  if (!work.flattened)
    return;
  ReportPage page{.program = work.flattened->program, .facts = work.facts};
  page.original = work.picture->original = recording_of_original(work);
  page.original_verdict = work.flattened->verdict;
  page.limits = work.session.limits();
  page.may_run = !work.has_oracle();
  page.interrupted = work.options().listener.interrupted;
  work.picture->analysis = begin_original(page);
}

} // namespace repro_minify
