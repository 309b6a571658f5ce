// The values of a module and its arguments before anything ran. Those that are still the same are neither copied nor
// compared: a large model's parameters are most of what a check would copy, and hardly any forward writes to one.
#pragma once

#include "check/run_program.h"
#include "repro_minify/program.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace repro_minify {

/// Version counters would be cheaper, but a generated kernel that writes through a pointer moves none. So it is the
/// contents that count: the kernel is asked whether anybody wrote to shared pages, everything else is hashed.
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

/// Where one side left a value as it was and another did not, the former gets what it was, from a fresh instance.
void complete_state(Observed &ref, Observed &res, Observed *fp64, const std::function<Instance()> &fresh, bool module);

// The content of memory that was allocated and never written. It is garbage, and a program that reads it answers
// otherwise in each run; here it holds the same in every run, until it is asked to hold something else.

enum class Fill { Usual, Other };
inline Fill other(Fill fill) {
  return fill == Fill::Usual ? Fill::Other : Fill::Usual;
}

/// The value that the C library's allocator is given for Fill::Usual (mallopt's M_PERTURB, which fills what is freed
/// with this byte, and what is allocated with its complement).
inline constexpr int usual_perturbation = 85;

/// From now on, in this process. Reaches what malloc and posix_memalign hand out, and so tensors on the CPU, but for
/// some of up to 1 KiB: what glibc hands out of its cache for a thread is not filled. Where the C library is not glibc,
/// and on other devices, it reaches nothing.
void fill_unwritten_memory(Fill fill);

} // namespace repro_minify
