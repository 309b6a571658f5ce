// Progress: one line that is rewritten on a terminal, plain lines now and then elsewhere.
#pragma once
#include "repro_minify/reducer.h"

#include <chrono>

namespace repro_minify {

class ProgressPrinter {
public:
  explicit ProgressPrinter(bool quiet);
  ~ProgressPrinter();
  void show(const Progress &progress);
  /// Ends the line that is being rewritten, so that something else can be printed.
  void finish();

private:
  bool quiet_;
  bool terminal_;
  bool line_open_ = false;
  int last_operators_ = -1;
  std::chrono::steady_clock::time_point last_{};
};

} // namespace repro_minify
