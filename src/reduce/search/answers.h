// The answers that the oracle has given so far.
#pragma once
#include "program/dataflow/dataflow.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace repro_minify {

/// Stands in for a set: thousands of sets of thousands of nodes would not fit in memory. 128 bits, so that two sets
/// share one by chance about as often as a memory cell turns over by itself.
struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Fingerprint &, const Fingerprint &) = default;
};

Fingerprint fingerprint(const IndexSet &set);

class Answers {
public:
  std::optional<bool> find(const Fingerprint &set) const;
  void remember(const Fingerprint &set, bool fails);

private:
  struct Hash {
    std::size_t operator()(const Fingerprint &set) const { return static_cast<std::size_t>(set.low); }
  };
  std::unordered_map<Fingerprint, bool, Hash> answers_;
};

} // namespace repro_minify
