// Ctrl-C and the like (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ): the first asks for the best so far, the
// second ends the program as if nobody had asked.
#pragma once

namespace repro_minify {

void catch_signals();
bool stop_requested();

} // namespace repro_minify
