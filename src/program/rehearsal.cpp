#include "program/rehearsal.h"

#include "program/compute.h"
#include "repro_minify/program.h"
#include "sandbox/ask_again.h"
#include "sandbox/limits.h"

#include <csignal>
#include <system_error>

namespace repro_minify {
namespace {

/// Tells the parent apart what is wrong with the file from what went wrong.
constexpr const char *fine = "fine";

std::string seconds_of(const Limits &limits) {
  return std::to_string(limits.timeout.count() / 1000) + " s";
}

std::string how_it_ended(const Outcome &outcome, const Limits &limits) {
  switch (outcome.ending) {
  case Ending::Crashed:
    return "ends a process with signal " + std::to_string(outcome.signal) +
           (outcome.signal == SIGSEGV ? " (is something nested without end?)" : "");
  case Ending::TimedOut:
    return "takes more than " + seconds_of(limits) + "; --timeout gives it longer";
  case Ending::OutOfMemory:
    return "takes more than " + std::to_string(limits.memory_bytes >> 20) + " MiB; --memory-limit gives it more";
  default:
    return "ends a process (exit code " + std::to_string(outcome.exit_code) + ")";
  }
}

} // namespace

void rehearse(const std::string &origin, const std::string &doing, const std::function<void(Child &)> &reading,
              const Limits &limits) {
  const Outcome outcome = run_until_answered(
      [&](Child &child) {
        child.confine({});
        keep_stack_in_reserve();
        try {
          reading(child);
          child.reply(fine);
        } catch (const UserError &error) {
          child.reply(error.what());
        }
      },
      limits);
  if (outcome.ending == Ending::Replied && outcome.reply == fine)
    return;
  if (outcome.ending == Ending::Replied)
    throw UserError(outcome.reply);
  if (outcome.ending == Ending::Threw)
    throw UserError(origin + ": cannot be read: " + first_sentence(outcome.message));
  if (limits.interrupted && limits.interrupted())
    throw UserError(origin + ": interrupted while " + doing);
  if (!is_answer(outcome))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            origin + ": " + doing + " in a process of its own" +
                                (outcome.message.empty() ? "" : " (" + outcome.message + ")"));
  throw UserError(origin + ": " + doing + " " + how_it_ended(outcome, limits) + ", so it is not read here");
}

} // namespace repro_minify
