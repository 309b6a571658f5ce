// Verdicts that say nothing of the backend, and what tells that one is such. A check that had none is made again.
#pragma once

#include "repro_minify/check.h"
#include "tasks/sandbox.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace repro_minify {

// Verdicts that say nothing of the backend. Internal to src/check.

Verdict unresolved(std::string message);

/// Returns an unresolved Verdict that is not to be remembered: the check had no answer.
Verdict without_answer(const std::string &why);

/// Returns the message of the current exception, without a stack trace. Call only inside a catch block.
std::string current_message();

/// Call only inside a catch block. Returns why the current exception says nothing of the program that ran on `device`:
/// a lack of means (no thread, no process, no room, a file that cannot be read) that may be over in a moment, or
/// memory_held_by_others(). Empty for other exceptions. Throws it again if the limit on this process's memory was met:
/// the sandbox tells what that means.
std::string why_no_answer(c10::Device device);

/// Returns the Verdict on the exception that is in flight where that says nothing of the program, whichever side has
/// thrown it: a backend cannot take the program, a fault of our own, or no answer. Call only inside a catch block;
/// throws again what why_no_answer() does.
std::optional<Verdict> not_of_the_program(const Backend &backend, c10::Device device);

// A check that had no answer is made again: what was missing may be there a moment later.

/// Returns the Verdict of `once`, asked again while it has no answer, `most_asked_again` times at most. `before_again`
/// is called before each time but the first; once `interrupted` returns true, `once` is not asked again.
Verdict ask_until_answered(const std::function<Verdict()> &once, const std::function<void()> &before_again = {},
                           const std::function<bool()> &interrupted = {});

// A machine that has too little memory for a check.

/// `limit`: what the check could take, three quarters of the machine's free memory, as no other limit was given. Where
/// the model is so large that eager alone takes a third of it, a check that goes past it says nothing of the backend:
/// that has the model too, and what it makes of it.
Verdict unless_memory_is_short(const Verdict &verdict, std::uint64_t limit);

/// Returns why an error of this process says nothing of the program that it ran: the device had no memory left for it,
/// as other processes hold more than a quarter of it. Empty for other errors, and where this process has the rest.
std::string memory_held_by_others(const std::string &message, c10::Device device);

// Tells from an error's message whether the device is lost. Internal to src/check.

/// True if `message` is a CUDA error that stays: the device raises it again when asked for nothing at all. (An illegal
/// address, a device-side assertion: the context is gone until its process ends.)
bool device_is_lost(const std::string &message, c10::Device device);

} // namespace repro_minify
