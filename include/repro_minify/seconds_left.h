// How long something takes still.
#pragma once

namespace repro_minify {

/// Between these it is expected to lie. Seconds, 0 < least <= most <= 9 * least: their geometric mean is within three
/// times of either.
struct SecondsLeft {
  double least, most;
  friend bool operator==(const SecondsLeft &, const SecondsLeft &) = default;
};

} // namespace repro_minify
