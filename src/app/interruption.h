// Ctrl-C and the like (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ): the first asks for the best so far, the
// second ends the program as if nobody had asked.
#pragma once

namespace repro_minify {

void catch_signals();
bool stop_requested();

/// That of a command of which it is not known whether what it printed was cut short.
int exit_code_unless_stopped(int code);

} // namespace repro_minify
