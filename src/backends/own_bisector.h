// A backend whose library brings a bisector of its own: it says what to leave out, and is told what came of it.
#pragma once
#include "repro_minify/backend.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct OwnFinding {
  std::string guilty;     ///< "inductor/lowerings#4": the fourth application of that part
  bool confirmed = false; ///< with the part left out, and with its applications before this one, it is right
  std::string note;       ///< what else the library knows, in sentences
};

class OwnBisector {
public:
  virtual ~OwnBisector() = default;
  /// Whether the failure shows under this variant of the backend; `what` says in words which it is.
  using Fails = std::function<bool(const std::shared_ptr<const Backend> &variant, const std::string &what)>;

  /// Everything that can be left out, in order.
  virtual std::vector<std::string> parts() const = 0;
  /// Nothing if no part is guilty. Throws std::runtime_error where the library's bisector gives up, and what `fails`
  /// throws.
  virtual std::optional<OwnFinding> bisect(const Fails &fails) const = 0;
};

} // namespace repro_minify
