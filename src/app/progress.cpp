#include "app/progress.h"

#include "app/interruption.h"
#include "support/log.h"

#include <array>
#include <cmath>
#include <cstdio>

#include <unistd.h>

namespace repro_minify {
namespace {

std::string range_text(const SecondsLeft &left) {
  const long least = std::lround(left.least), most = std::lround(left.most);
  if (least == most)
    return "about " + std::to_string(most);
  return least < 1 ? "up to " + std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
}

} // namespace

ProgressPrinter::ProgressPrinter(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}
ProgressPrinter::~ProgressPrinter() {
  finish();
}

/// On a terminal ten times a second. Elsewhere a line for each step forward, but not for each of many at once, and one
/// now and then.
bool ProgressPrinter::is_time(bool moved_on) {
  const auto now = std::chrono::steady_clock::now();
  const auto pause = std::chrono::milliseconds(terminal_ ? 100 : moved_on ? 200 : 2000);
  if (quiet_ || now - last_ < pause)
    return false;
  last_ = now;
  return true;
}

void ProgressPrinter::print(const std::string &text) {
  std::fprintf(stderr, "%s%s%s", terminal_ ? "\r\033[K" : "", text.c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
  line_open_ = terminal_;
}

void ProgressPrinter::show(const Progress &progress) {
  if (!is_time(progress.operators != last_operators_))
    return;
  last_operators_ = progress.operators;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%s: %d checks, best so far %d operators (%d nodes), %.1f s",
                progress.pass.c_str(), progress.checks, progress.operators, progress.nodes, progress.elapsed_seconds);
  std::string line = text.data();
  // Below a second nobody waits for it.
  if (progress.left && progress.left->most >= 1)
    line += ", " + range_text(*progress.left) + " s left";
  print(line);
}

void ProgressPrinter::show_count(const std::string &what, int done, int of) {
  if (is_time(false))
    print(what + ": " + std::to_string(done) + (of > 0 ? " of " + std::to_string(of) : " checks"));
}

void ProgressPrinter::finish() {
  if (line_open_)
    std::fputc('\n', stderr);
  line_open_ = false;
}

namespace {

void write_to_log(Severity severity, const std::string &text) {
  switch (severity) {
  case Severity::Detail:
    return log::debug(text);
  case Severity::Info:
    return log::info(text);
  case Severity::Warning:
    return log::warning(text);
  case Severity::Error:
    return log::error(text);
  }
}

} // namespace

MinifyOptions minify_options(const Options &options, ProgressPrinter &progress) {
  MinifyOptions how = minify_options(options);
  Listener &listener = how.listener;
  listener.message = write_to_log;
  listener.progress = [&progress](const Progress &now) { progress.show(now); };
  listener.count = [&progress](const std::string &what, int done, int of) { progress.show_count(what, done, of); };
  listener.finished = [&progress] { progress.finish(); };
  listener.interrupted = stop_requested;
  return how;
}

} // namespace repro_minify
