// Progress: one line that is rewritten on a terminal, plain lines now and then elsewhere.
#pragma once
#include "app/options.h"

#include <chrono>

namespace repro_minify {

class ProgressPrinter {
public:
  explicit ProgressPrinter(bool quiet);
  ~ProgressPrinter();
  void show(const Progress &progress);
  /// "what: 3 of 17", or "what: 3 checks" when nobody knows of how many.
  void show_count(const std::string &what, int done, int of);
  /// Ends the line that is being rewritten, so that something else can be printed.
  void finish();

private:
  bool is_time(bool moved_on);
  void print(const std::string &text);

  bool quiet_;
  bool terminal_;
  bool line_open_ = false;
  int last_operators_ = -1;
  std::chrono::steady_clock::time_point last_{};
};

/// The options, with messages to the log, progress to `progress` (which has to live as long), and signals as
/// interruptions.
MinifyOptions minify_options(const Options &options, ProgressPrinter &progress);

} // namespace repro_minify
