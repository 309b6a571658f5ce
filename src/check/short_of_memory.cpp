#include "check/short_of_memory.h"

#include "core/number_text.h"

namespace repro_minify {
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

} // namespace repro_minify
