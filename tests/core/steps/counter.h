// Counts the steps of code that is compiled with -fsanitize-coverage=trace-pc: how often a basic block is entered. They
// are the same on every machine, however busy, which seconds are not.
#pragma once
#include <cstdint>

namespace repro_minify {

std::uint64_t steps_so_far();

/// The steps of `work`, a function without arguments.
template <typename Work> std::uint64_t steps_of(const Work &work) {
  const std::uint64_t before = steps_so_far();
  work();
  return steps_so_far() - before;
}

} // namespace repro_minify
