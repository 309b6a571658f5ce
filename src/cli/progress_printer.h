// The text of the block on a terminal: a few lines about what is being done now.
#pragma once
#include "cli/options.h"
#include "cli/terminal.h"
#include "repro_minify/minify_options.h"

#include <chrono>
#include <string>
#include <vector>

namespace repro_minify {

// Progress: a block that is drawn again and again on a terminal, plain lines now and then elsewhere.

class ProgressPrinter {
public:
  /// The state of a job while it goes on.
  struct State {
    std::string subject; ///< "failing.pt under freeze"
    std::string phase;   ///< as ReproFacts::phases name it
    std::string count;   ///< "12 checks", of what is counted in this phase; empty: nothing is
    Progress progress;   ///< of the search; `checks` 0: it has not begun
    int operators_before = 0;
    std::vector<int> sizes; ///< operators of the best so far, after each check
    double seconds = 0;     ///< since the job began
  };
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
  State state_;
  int last_operators_ = -1;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

// Connects the library's listener to the log, the terminal and the signals (Ctrl-C).

/// The options, with messages to the log, progress to `progress` (which has to live as long), and signals as
/// interruptions.
MinifyOptions minify_options(const Options &options, ProgressPrinter &progress);

/// "failing.pt under freeze", for a ProgressPrinter.
std::string factory_of(const Options &options);

} // namespace repro_minify
