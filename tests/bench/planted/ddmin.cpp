// ddmin: try each of n parts alone, then each part's complement, then twice as many parts.
#include "bench/planted/tools.h"

#include <algorithm>
#include <optional>

namespace repro_minify::bench {
namespace {

struct Reduced {
  IndexSet kept;
  std::size_t parts;
};

std::optional<Reduced> one_step(const IndexSet &kept, std::size_t parts, const Fails &fails) {
  const auto border = [&](std::size_t part) { return static_cast<std::ptrdiff_t>(kept.size() * part / parts); };
  for (std::size_t part = 0; part < parts; ++part) {
    const IndexSet alone(kept.begin() + border(part), kept.begin() + border(part + 1));
    if (fails(alone))
      return Reduced{alone, 2};
  }
  // If there are only two parts, each is the other's complement.
  for (std::size_t part = 0; parts > 2 && part < parts; ++part) {
    IndexSet others = without(kept, static_cast<std::size_t>(border(part)), static_cast<std::size_t>(border(part + 1)));
    if (fails(others))
      return Reduced{std::move(others), std::max<std::size_t>(parts - 1, 2)};
  }
  return std::nullopt;
}

} // namespace

IndexSet ddmin(const IndexSet &all, const Fails &fails) {
  Reduced now{all, 2};
  while (now.kept.size() >= 2) {
    if (auto next = one_step(now.kept, now.parts, fails)) {
      now = std::move(*next);
      now.parts = std::min(now.parts, std::max<std::size_t>(now.kept.size(), 2));
      continue;
    }
    if (now.parts >= now.kept.size())
      break;
    now.parts = std::min(now.kept.size(), now.parts * 2);
  }
  return now.kept;
}

} // namespace repro_minify::bench
