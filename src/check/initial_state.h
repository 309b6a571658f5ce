// The values of a module and its arguments before anything ran. Those that are the same afterwards are neither copied
// nor compared: a large model's parameters are most of what a check would copy, and hardly any forward writes to one.
#pragma once

#include "check/run_program.h"
#include "repro_minify/program.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace repro_minify {

/// Tells which values a run has changed, by their contents: the operating system says if shared pages were written to,
/// everything else is hashed. Version counters would be cheaper, but a generated kernel that writes through a pointer
/// moves none.
class InitialState {
public:
  /// To be made before anything is compiled or run. `module`: the module's own values count too.
  InitialState(const Instance &instance, bool module);

  /// True if the value at this place of Observed::state, as it is after a run, is what it was before; false where that
  /// is not known.
  bool still_holds(std::size_t place, const c10::IValue &value) const;

private:
  struct Contents {
    const void *storage = nullptr, *data = nullptr; ///< where it lies
    std::size_t bytes = 0;
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> sizes, strides;
    std::int64_t offset = 0;
    std::optional<std::uint64_t> hash; ///< nothing: shared pages
  };
  static std::optional<Contents> contents_of(const at::Tensor &tensor);
  static bool same_argument(const c10::IValue &before, const c10::IValue &after);

  std::vector<std::optional<Contents>> module_; ///< nothing where it cannot be told
  std::vector<c10::IValue> arguments_;          ///< the instance's own: runs are given copies
};

/// Where one side changed a value and another did not, gives the other side its unchanged value, from a `fresh`
/// instance, so that the two can be compared. `fp64` may be null.
void complete_state(Observed &ref, Observed &res, Observed *fp64, const std::function<Instance()> &fresh, bool module);

} // namespace repro_minify
