// Which of the ordered steps of a compilation is guilty? Knows nothing of LibTorch.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace repro_minify {

/// Returns true if it is still wrong when these steps run, and no others; their numbers ascend.
using StepsFail = std::function<bool(const std::vector<int> &steps)>;

struct GuiltySearch {
  bool fails_with_all = false;
  bool fails_with_none = false;
  /// The last step of a beginning that fails; without that step the same beginning passes. Nothing unless it fails with
  /// all and passes with none.
  std::optional<int> step;
  bool passes_without = false; ///< all the others together pass
  /// Earlier steps without which it passes, though the guilty one runs: with these and it alone, it fails.
  std::vector<int> needs;
};

/// `steps` of them, at least one. Asks about log2(steps) + 4 times, and as often again for each step of `needs`.
GuiltySearch find_guilty_step(int steps, const StepsFail &fails);

} // namespace repro_minify
