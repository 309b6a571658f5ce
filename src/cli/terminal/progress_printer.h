// Progress: a block that is drawn again and again on a terminal, plain lines now and then elsewhere.
#pragma once
#include "cli/terminal/live_block.h"
#include "cli/terminal/terminal.h"

#include <chrono>

namespace repro_minify {

class ProgressPrinter {
public:
  /// `subject`: what is worked on, "failing.pt under freeze".
  ProgressPrinter(bool quiet, std::string subject);
  ~ProgressPrinter();
  void show(const Progress &progress);
  /// Shows "what: 3 of 17", or "what: 3 checks" if the total is not known.
  void show_count(const std::string &what, int done, int of);
  void enter(const std::string &phase);
  void begin(const ProgramSize &size);
  /// Time goes by: called often.
  void tick();
  /// Takes away what is drawn, so that something else can be printed; it is back with the next tick.
  void hide();
  /// The same, and what was counted has come to its end.
  void finish();

private:
  bool is_time(std::chrono::milliseconds pause);
  void draw();
  void print_line(const std::string &text);

  const bool quiet_;
  const bool plain_; ///< this terminal is not known to have more than ASCII
  Terminal terminal_;
  LiveState state_;
  int last_operators_ = -1;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

} // namespace repro_minify
