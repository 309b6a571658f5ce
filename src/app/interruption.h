// Ctrl-C and the like (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ): the first asks for the best so far, the
// second ends the program as if nobody had asked.
#pragma once

namespace repro_minify {

/// Leaves a command when a signal asked for it before there is anything to keep.
struct Interruption {};

void catch_signals();
bool stop_requested();
/// Throws Interruption.
void throw_if_interrupted();

} // namespace repro_minify
