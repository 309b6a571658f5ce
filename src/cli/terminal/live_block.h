// The text of the block on a terminal: a few lines about what is being done now.
#pragma once
#include "repro_minify/minify_options.h"

#include <string>
#include <vector>

namespace repro_minify {

/// The state of a job while it goes on.
struct LiveState {
  std::string subject; ///< "failing.pt under freeze"
  std::string phase;   ///< as ReproFacts::phases name it
  std::string count;   ///< "12 checks", of what is counted in this phase; empty: nothing is
  Progress progress;   ///< of the search; `checks` 0: it has not begun
  int operators_before = 0;
  std::vector<int> sizes; ///< operators of the best so far, after each check
  double seconds = 0;     ///< since the job began
};

/// The lines, the first of them a heading, none of them wider than `width` columns. `plain`: in ASCII.
std::vector<std::string> live_lines(const LiveState &state, int width, bool plain);

/// Sizes as a row of bars, `width` characters at most, the first and the last included.
std::string small_curve(const std::vector<int> &sizes, int width, bool plain);

} // namespace repro_minify
