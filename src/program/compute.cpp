#include "program/compute.h"

#include "program/executor.h"
#include "program/map_tensors.h"
#include "program/pickled.h"
#include "program/values.h"
#include "tasks/limits.h"
#include "tasks/run_until_answered.h"

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

} // namespace repro_minify
