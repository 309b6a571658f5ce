// Steps that a backend's library can switch off by itself: a second opinion on the guilty one.
#pragma once
#include "repro_minify/backend.h"

#include <memory>
#include <string>

namespace repro_minify {

class OwnSwitches {
public:
  virtual ~OwnSwitches() = default;
  /// The same backend with a step switched off by the library's own switch for it, or null where it has none.
  virtual std::unique_ptr<Backend> switched_off(const std::string &step) const = 0;
};

} // namespace repro_minify
