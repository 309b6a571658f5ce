// Connects the library's listener to the log, the terminal and the signals (Ctrl-C).
#pragma once
#include "cli/options.h"
#include "cli/terminal/progress_printer.h"

namespace repro_minify {

/// The options, with messages to the log, progress to `progress` (which has to live as long), and signals as
/// interruptions.
MinifyOptions minify_options(const Options &options, ProgressPrinter &progress);

/// "failing.pt under freeze", for a ProgressPrinter.
std::string factory_of(const Options &options);

} // namespace repro_minify
