#include "check/unresolved.h"

#include "core/out_of_memory.h"
#include "tasks/limits.h"

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

bool is_past_the_limit(const std::string &message) {
  return memory_allowance() > 0 && message.find("CUDA") == std::string::npos && is_out_of_memory(message);
}

bool is_want_of_means(const std::error_code &code) {
  return code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory ||
         code == std::errc::no_space_on_device || code == std::errc::too_many_files_open ||
         code == std::errc::too_many_files_open_in_system || code == std::errc::io_error;
}

} // namespace repro_minify
