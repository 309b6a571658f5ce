#include "check/unresolved.h"

#include "backends/backend_parts.h"
#include "core/no_answer.h"
#include "core/number_text.h"
#include "repro_minify/run_settings.h"
#include "tasks/limits.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <system_error>
#include <tuple>
#include <utility>

namespace repro_minify {

Verdict unresolved(std::string message) {
  Verdict verdict;
  verdict.message = std::move(message);
  return verdict;
}

Verdict without_answer(const std::string &why) {
  Verdict verdict = unresolved(why);
  verdict.no_answer = true;
  return verdict;
}

std::string current_message() {
  try {
    throw;
  } catch (const c10::Error &error) {
    return error.what_without_backtrace();
  } catch (const std::exception &error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

namespace {

bool is_want_of_means(const std::error_code &code) {
  return code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory ||
         code == std::errc::no_space_on_device || code == std::errc::too_many_files_open ||
         code == std::errc::too_many_files_open_in_system || code == std::errc::io_error ||
         code == std::errc::read_only_file_system || code.value() == EDQUOT;
}

} // namespace

std::string why_no_answer(c10::Device device) {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const NoAnswer &error) {
    return error.what();
  } catch (const std::system_error &error) {
    return is_want_of_means(error.code()) ? error.what() : "";
  } catch (...) {
    const std::string message = current_message();
    // LibTorch has no class of its own for it.
    if (memory_allowance() > 0 && message.find("CUDA") == std::string::npos && is_out_of_memory(message))
      throw;
    return memory_held_by_others(message, device);
  }
}

std::optional<Verdict> not_of_the_program(const Backend &backend, c10::Device device) {
  try {
    throw;
  } catch (const OwnBug &error) {
    Verdict verdict = unresolved(error.what());
    verdict.trouble = Verdict::Trouble::Bug;
    return verdict;
  } catch (const CannotCompile &error) {
    return unresolved(backend.name() + " cannot take this program: " + error.what());
  } catch (...) {
    const std::string why = why_no_answer(device);
    return why.empty() ? std::nullopt : std::optional(without_answer(why));
  }
}

Verdict ask_until_answered(const std::function<Verdict()> &once, const std::function<void()> &before_again,
                           const std::function<bool()> &interrupted) {
  for (int again = 0;; ++again) {
    Verdict verdict = once();
    if (!verdict.no_answer || again == most_asked_again || !pause_before_asking_again(again, interrupted))
      return verdict;
    if (before_again)
      before_again();
  }
}

namespace {

std::string in_gib(uint64_t bytes) {
  return rounded_text(static_cast<double>(bytes) / (1 << 30)) + " GiB";
}

} // namespace

Verdict unless_memory_is_short(const Verdict &verdict, std::uint64_t limit) {
  const bool is_the_backends = verdict.outcome == Verdict::Outcome::Fail && verdict.eager_bytes < limit / 3;
  if (!verdict.out_of_memory || is_the_backends)
    return verdict;
  Verdict result;
  result.trouble = Verdict::Trouble::Memory;
  result.message = "not enough memory for this check: it may take " + in_gib(limit) +
                   ", three quarters of what is free" +
                   (verdict.eager_bytes > 0 ? ", and eager alone takes " + in_gib(verdict.eager_bytes) : "") +
                   "; --memory-limit gives it more";
  result.wall_seconds = verdict.wall_seconds;
  return result;
}

std::string memory_held_by_others(const std::string &message, c10::Device device) {
  auto *allocator = dynamic_cast<c10::DeviceAllocator *>(c10::GetAllocator(device.type()));
  if (device.is_cpu() || allocator == nullptr || !is_out_of_memory(message))
    return "";
  const auto index = std::max(device.index(), c10::DeviceIndex{0});
  std::size_t free = 0, total = 0;
  try {
    std::tie(free, total) = allocator->getMemoryInfo(index);
  } catch (const std::exception &) {
    return "the device has no memory left for another process";
  }
  const auto kept = allocator->getDeviceStats(index).reserved_bytes[0].current; // by this process, for its tensors
  const auto others = static_cast<std::int64_t>(total - free) - kept;
  if (others <= static_cast<std::int64_t>(total / 4))
    return "";
  return "the memory of the device ran out: other processes hold " + in_gib(static_cast<uint64_t>(others)) +
         " of its " + in_gib(total);
}

bool device_is_lost(const std::string &message, c10::Device device) {
  if (!device.is_cuda() || message.find("CUDA error") == std::string::npos)
    return false;
  try {
    synchronize(device);
  } catch (const std::exception &) {
    return true;
  }
  return false;
}

} // namespace repro_minify
