#include "counter.h"

#ifdef __clang__
#define NOT_COUNTED __attribute__((no_sanitize("coverage")))
#else
#define NOT_COUNTED __attribute__((no_sanitize_coverage))
#endif

namespace {

std::uint64_t steps = 0;

} // namespace

// The compiler calls it at the beginning of each basic block, and it would be called in itself without end.
extern "C" NOT_COUNTED void __sanitizer_cov_trace_pc() {
  ++steps;
}

namespace repro_minify {

std::uint64_t steps_so_far() {
  return steps;
}

} // namespace repro_minify
