#include "program/compute.h"

#include "core/number_text.h"
#include "program/executor.h"
#include "program/values.h"
#include "repro_minify/program.h"
#include "tasks/limits.h"
#include "tasks/sandbox.h"

#include <csignal>
#include <filesystem>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace repro_minify {
namespace {

/// Copies the tensors of `value` that are on a CUDA device to the CPU. A process that has used CUDA has no children
/// that can use it, and the process that gets this value forks one for each check.
c10::IValue off_cuda(const c10::IValue &value) {
  SharedCloner cloner({.device = c10::Device(c10::kCPU)});
  bool is_on_cuda = false;
  for_each_tensor(value, [&](const at::Tensor &tensor) { is_on_cuda |= tensor.is_cuda(); });
  return is_on_cuda ? map_tensors(value,
                                  [&](const at::Tensor &tensor) {
                                    return tensor.defined() && tensor.is_cuda() ? cloner.clone(tensor) : tensor;
                                  })
                    : value;
}

/// The first letter of the reply: it tells what was read from what is wrong with the file.
constexpr char was_read = '+', was_refused = '-';

std::string seconds_of(const Limits &limits) {
  return rounded_text(std::chrono::duration<double>(limits.timeout).count()) + " s";
}

std::string how_it_ended(const JobEnd &job_end, const Limits &limits) {
  switch (job_end.ending) {
  case Ending::Crashed:
    return "ends a process with signal " + std::to_string(job_end.signal) +
           (job_end.signal == SIGSEGV ? " (is something nested without end?)" : "");
  case Ending::TimedOut:
    return "takes more than " + seconds_of(limits) + "; --timeout gives it longer";
  case Ending::OutOfMemory:
    return "takes more than " + memory_text(limits.memory_bytes) + "; --memory-limit gives it more";
  default:
    return "ends a process (exit code " + std::to_string(job_end.exit_code) + ")";
  }
}

std::string internal(const std::string &what) {
  return "internal error: " + (what.empty() ? "of an unknown kind" : what) +
         "; this is a bug of repro-minify (or of LibTorch in its process), not of your command: please report it with "
         "the command line, and with the model if you can";
}

} // namespace

c10::IValue compute_in_child(const std::function<c10::IValue(Child &)> &work, const Limits &limits, Confined confined) {
  const JobEnd job_end = run_until_answered(
      [&](Child &child) {
        if (confined == Confined::BeforeTheWork)
          child.confine(confinement_of_running());
        const auto bytes = pickled(off_cuda(work(child)));
        child.reply(std::string_view(bytes.data(), bytes.size()));
      },
      limits);
  require_reply(job_end);
  return unpickled(job_end.reply);
}

void require_reply(const JobEnd &job_end) {
  if (job_end.ending == Ending::Threw)
    throw std::runtime_error(job_end.message);
  if (job_end.ending != Ending::Cancelled && !is_answer(job_end))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            job_end.message.empty() ? "a child process was killed from outside" : job_end.message);
  if (job_end.ending == Ending::OutOfMemory)
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                            job_end.stage.empty() ? "for a child process" : "for " + job_end.stage);
  if (job_end.ending != Ending::Replied) {
    std::string how = to_string(job_end.ending);
    if (job_end.signal)
      how += " (signal " + std::to_string(job_end.signal) + ")";
    throw std::runtime_error("the child process " + how + (job_end.stage.empty() ? "" : " while " + job_end.stage));
  }
}

std::string first_sentence(const std::string &message) {
  std::istringstream lines(message.substr(0, message.find("\nException raised from")));
  std::string line, first, error;
  while (std::getline(lines, line)) {
    if (line.find_first_not_of(" \t") == std::string::npos)
      continue;
    if (first.empty())
      first = line;
    // The TorchScript interpreter ends its traceback with the real error: "RuntimeError: ...".
    const auto at = line.find("Error: ");
    if (at != std::string::npos && at < 40 && line.find(' ') > at)
      error = line;
  }
  return error.empty() ? first : error;
}

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

ErrorReport report_of(const std::exception_ptr &error) {
  try {
    std::rethrow_exception(error);
  } catch (const UserError &user) {
    return {true, user.what()};
  } catch (const std::filesystem::filesystem_error &file) {
    return {true, file.path1().string() + ": " + file.code().message()};
  } catch (const std::system_error &machine) { // no process, no memory, no temporary folder
    return {false, std::string("the machine does not give what is needed: ") + machine.what()};
  } catch (const std::bad_alloc &) {
    return {false, "the machine does not give what is needed: memory"};
  } catch (const std::exception &other) {
    return {false, internal(first_sentence(other.what()))};
  } catch (...) {
    return {false, internal("")};
  }
}

} // namespace repro_minify
