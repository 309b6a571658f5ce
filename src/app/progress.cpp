#include "app/progress.h"

#include <cstdio>

#include <unistd.h>

namespace repro_minify {

ProgressPrinter::ProgressPrinter(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}
ProgressPrinter::~ProgressPrinter() {
  finish();
}

void ProgressPrinter::show(const Progress &progress) {
  if (quiet_)
    return;
  const auto now = std::chrono::steady_clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(2000);
  if (now - last_ < pause && (terminal_ || progress.operators == last_operators_))
    return;
  // Elsewhere a line for each step forward, but not for each of many at once.
  if (!terminal_ && now - last_ < std::chrono::milliseconds(200))
    return;
  last_ = now;
  last_operators_ = progress.operators;
  std::fprintf(stderr, "%s%s: %d checks, best so far %d operators (%d nodes), %.1f s%s", terminal_ ? "\r\033[K" : "",
               progress.pass.c_str(), progress.checks, progress.operators, progress.nodes, progress.elapsed_seconds,
               terminal_ ? "" : "\n");
  std::fflush(stderr);
  line_open_ = terminal_;
}

void ProgressPrinter::finish() {
  if (line_open_)
    std::fputc('\n', stderr);
  line_open_ = false;
}

} // namespace repro_minify
