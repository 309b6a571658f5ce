// Jobs and programs in a sandbox of their own, waited for.
#pragma once

#include "repro_minify/sandbox.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace repro_minify {

// A job whose JobEnd says nothing of the job is run again: what was missing may be there a moment later.

inline constexpr int most_asked_again = 3; ///< runs after the first
/// Sleeps before run number `again`, counted from 0: 0.1 s, and three times as long each time. Returns false as soon as
/// `interrupted` does not allow it to go on.
bool pause_before_asking_again(int again, const std::function<bool()> &interrupted = {});

/// True if the JobEnd says anything of the job; false for a child that could not be started, whose end is lost, or that
/// was killed from outside or cancelled.
bool is_answer(const JobEnd &job_end);
/// True for a signal that another process or a person sends, and no fault of a program's own.
bool comes_from_outside(int signal);
/// Calls run_in_sandbox(), and again while there is no answer, `most_asked_again` times at most.
JobEnd run_until_answered(const Job &job, const Limits &limits);

/// Runs another program in a sandbox of its own. The first word is the program, looked up on PATH; no shell reads the
/// words. Exit code 127: it could not be started. `interrupted`: see Limits.
JobEnd run_command(const std::vector<std::string> &words, std::chrono::seconds timeout,
                   const std::function<bool()> &interrupted = {});

} // namespace repro_minify
