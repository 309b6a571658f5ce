// Ctrl-C and the like (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ): the first asks for the best so far, the
// second ends the program at once. A program that computes for a second and does not look whether it was
// asked is ended as it is, with 130.
#pragma once
#include <functional>
#include <string>

namespace repro_minify {

/// Watches the thread that calls it first: that is the one that has to look.
void catch_signals();

/// Where the environment names a process that has started this one, its end is a signal to end (SIGTERM): a killed
/// Python does not leave a reduction behind. Strictly the end of the thread that has started this process. To be called
/// after catch_signals().
void end_with_starter();

bool stop_requested();

/// For a program that is ended as it is: `last_words` is called then, in another thread, while this one goes on; it may
/// tidy up, and gives what the user is told. Whatever it holds has to live as long as the process.
void when_ended_unheeded(std::function<std::string()> last_words);

/// That of a command of which it is not known whether what it printed was cut short.
int exit_code_unless_stopped(int code);

} // namespace repro_minify
