#include "reduce/search_sets.h"

#include "core/dataflow.h"

#include <cstdint>
#include <optional>

namespace repro_minify {
namespace {

/// The finaliser of SplitMix64: every bit of the input changes about half of the output.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

} // namespace

Fingerprint fingerprint(const IndexSet &set) {
  Fingerprint result{0x9e3779b97f4a7c15ULL, 0xd1b54a32d192ed03ULL};
  for (int node : set) {
    const auto word = static_cast<std::uint64_t>(static_cast<std::uint32_t>(node));
    result.high = mix(result.high + word);
    result.low = mix(result.low ^ (word * 0x9e3779b97f4a7c15ULL + 1));
  }
  return result;
}

std::optional<bool> Answers::find(const Fingerprint &set) const {
  const auto found = answers_.find(set);
  return found == answers_.end() ? std::nullopt : std::optional<bool>(found->second);
}

void Answers::remember(const Fingerprint &set, bool fails) {
  answers_.emplace(set, fails);
}

} // namespace repro_minify
