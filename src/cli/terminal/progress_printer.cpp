#include "cli/terminal/progress_printer.h"

#include "core/number_text.h"

#include <cstdlib>

namespace repro_minify {
namespace {

using std::chrono::milliseconds;

/// True if the locale is UTF-8. As in the C library, the first of these variables that is not empty decides.
bool locale_is_utf8() {
  for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char *value = std::getenv(name); value && *value) {
      const std::string locale = value;
      return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
  return false;
}

} // namespace

ProgressPrinter::ProgressPrinter(bool quiet, std::string subject) : quiet_(quiet), plain_(!locale_is_utf8()) {
  state_.subject = std::move(subject);
  state_.phase = "load";
}
ProgressPrinter::~ProgressPrinter() {
  finish();
}

bool ProgressPrinter::is_time(milliseconds pause) {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || now - last_ < pause)
    return false;
  last_ = now;
  return true;
}

void ProgressPrinter::draw() {
  state_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  std::vector<std::string> lines = live_lines(state_, terminal_.width(), plain_);
  lines.front() = terminal_.bold(lines.front());
  terminal_.draw(lines);
}

void ProgressPrinter::print_line(const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

/// Ten times a second: it goes on turning while one check takes its time.
void ProgressPrinter::tick() {
  if (terminal_.can_redraw() && is_time(milliseconds(100)))
    draw();
}

void ProgressPrinter::enter(const std::string &phase) {
  state_.phase = phase;
  state_.count.clear();
  tick();
}

void ProgressPrinter::begin(const ProgramSize &size) {
  state_.operators_before = size.operators;
  state_.sizes.assign(1, size.operators);
}

/// Where nothing can be drawn again a line for each step forward, but not for each of many at once, and one now and
/// then.
void ProgressPrinter::show(const Progress &progress) {
  state_.progress = progress;
  state_.sizes.push_back(progress.operators);
  if (terminal_.can_redraw())
    return tick();
  if (!is_time(milliseconds(progress.operators != last_operators_ ? 200 : 2000)))
    return;
  last_operators_ = progress.operators;
  print_line(progress.pass + ": " + std::to_string(progress.checks) + " checks, best so far " +
             std::to_string(progress.operators) + " operators (" + std::to_string(progress.nodes) + " nodes), " +
             fixed_text(progress.elapsed_seconds, 1) + " s");
}

void ProgressPrinter::show_count(const std::string &what, int done, int of) {
  state_.count = what + ": " + std::to_string(done) + (of > 0 ? " of " + std::to_string(of) : " checks");
  if (terminal_.can_redraw())
    tick();
  else if (is_time(milliseconds(2000)))
    print_line(state_.count);
}

void ProgressPrinter::hide() {
  terminal_.erase();
}

void ProgressPrinter::finish() {
  state_.count.clear();
  hide();
}

} // namespace repro_minify
