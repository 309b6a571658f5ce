// A backend whose start takes seconds: what else there is to do meanwhile is done first.
#pragma once

namespace repro_minify {

class SlowStart {
public:
  virtual ~SlowStart() = default;
  /// Returns once what start() has begun is ready. Throws UserError with what is wrong where it will never be.
  virtual void await_start() const = 0;
};

} // namespace repro_minify
