#include "program/read_in_sandbox.h"

#include "program/compute.h"
#include "repro_minify/program.h"
#include "tasks/limits.h"
#include "tasks/run_until_answered.h"

#include <csignal>
#include <system_error>

namespace repro_minify {
namespace {

/// The first letter of the reply: it tells what was read from what is wrong with the file.
constexpr char was_read = '+', was_refused = '-';

std::string seconds_of(const Limits &limits) {
  return std::to_string(limits.timeout.count() / 1000) + " s";
}

std::string how_it_ended(const JobEnd &job_end, const Limits &limits) {
  switch (job_end.ending) {
  case Ending::Crashed:
    return "ends a process with signal " + std::to_string(job_end.signal) +
           (job_end.signal == SIGSEGV ? " (is something nested without end?)" : "");
  case Ending::TimedOut:
    return "takes more than " + seconds_of(limits) + "; --timeout gives it longer";
  case Ending::OutOfMemory:
    return "takes more than " + std::to_string(limits.memory_bytes >> 20) + " MiB; --memory-limit gives it more";
  default:
    return "ends a process (exit code " + std::to_string(job_end.exit_code) + ")";
  }
}

} // namespace

std::string read_in_sandbox(const std::string &origin, const std::string &doing,
                            const std::function<std::string(Child &)> &reading, const Limits &limits) {
  JobEnd job_end = run_until_answered(
      [&](Child &child) {
        child.confine({});
        keep_stack_in_reserve();
        try {
          child.reply(was_read + reading(child));
        } catch (const UserError &error) {
          child.reply(was_refused + std::string(error.what()));
        }
      },
      limits);
  if (job_end.ending == Ending::Replied && !job_end.reply.empty()) {
    const bool is_read = job_end.reply[0] == was_read;
    job_end.reply.erase(0, 1);
    if (!is_read)
      throw UserError(job_end.reply);
    return std::move(job_end.reply);
  }
  if (job_end.ending == Ending::Threw)
    throw UserError(origin + ": cannot be read: " + first_sentence(job_end.message));
  if (limits.interrupted && limits.interrupted())
    throw UserError(origin + ": interrupted while " + doing);
  if (!is_answer(job_end))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            origin + ": " + doing + " in a process of its own" +
                                (job_end.message.empty() ? "" : " (" + job_end.message + ")"));
  throw UserError(origin + ": " + doing + " " + how_it_ended(job_end, limits) + ", so it is not read here");
}

void try_in_sandbox(const std::string &origin, const std::string &doing, const std::function<void(Child &)> &reading,
                    const Limits &limits) {
  read_in_sandbox(
      origin, doing,
      [&](Child &child) {
        reading(child);
        return std::string();
      },
      limits);
}

} // namespace repro_minify
