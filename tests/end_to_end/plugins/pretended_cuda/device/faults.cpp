// $PRETENDED_CUDA asks the device for faults, in words. A GPU does its work later than it is asked to, so that an error
// surfaces where the processor next waits for it, and most errors stay until the process ends.
#include "device.h"

#include <ATen/Context.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <cstring>

#include <malloc.h>

namespace pretended {
namespace {

/// A kernel has done what it may not.
bool has_error = false;
int runs = 0;

/// After so many runs: a process that checks a single candidate makes fewer.
bool is_old() {
  return runs >= 12;
}

/// Past the end of what it may write: the C library sees it when it needs what was there.
void overrun() {
  auto *block = static_cast<char *>(std::malloc(1000));
  std::memset(block + malloc_usable_size(block), 0x41, sizeof(std::size_t));
}

struct Spoiler {
  const char *word;
  void (*spoil)();
};

/// Candidates leave these behind in a process that is kept.
constexpr Spoiler spoilers[] = {
    {"leak", leak_memory},
    {"overrun", overrun},
    {"late-error", [] { has_error = true; }},
    {"denormals", [] { at::globalContext().setFlushDenormal(true); }},
    {"grad-mode", [] { c10::GradMode::set_enabled(false); }},
    {"default-dtype", [] { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }},
};

} // namespace

bool is_asked_to(const char *word) {
  const char *words = getenv("PRETENDED_CUDA");
  return words && std::strstr(words, word);
}

/// "error-in:NAME" is an error in that operator; with "once", one that the next call does not meet any more.
void begin_operator(std::string_view name) {
  if (is_asked_to("error-in:") && is_asked_to(("error-in:" + std::string(name)).c_str()))
    has_error = true;
}

void wait_for_kernels() {
  const bool had_error = has_error;
  if (is_asked_to("once"))
    has_error = false;
  TORCH_CHECK(!had_error, "CUDA error: an illegal memory access was encountered");
}

void end_run() {
  ++runs;
  for (const auto &[word, spoil] : spoilers)
    if (is_old() && is_asked_to(word))
      spoil();
  wait_for_kernels();
}

} // namespace pretended
