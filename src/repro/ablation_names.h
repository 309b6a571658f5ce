// Rows of the ablation that more than a reader looks at.
#pragma once
#include "repro_minify/repro.h"

#include <optional>
#include <string>

namespace repro_minify {
namespace ablation_names {

constexpr const char *inductor = "inductor";
constexpr const char *dynamo = "torch.compile, backend=eager";
constexpr const char *aot_eager = "torch.compile, backend=aot_eager";
constexpr const char *partitioned = "torch.compile, backend=aot_eager_decomp_partition";
constexpr const char *functionalized = "torch.func.functionalize alone";
constexpr const char *decomposed = "decompositions alone";
// Settings of TorchInductor.
constexpr const char *emulated = "emulate_precision_casts=True";
constexpr const char *scalar = "cpp.simdlen=1";
constexpr const char *dynamic = "dynamic=True";
constexpr const char *strict = "numerics=strict"; // from PyTorch 2.15 on

} // namespace ablation_names

/// Returns true if the row of that name, or of that setting, failed in the same way, and false if it did not; nothing
/// if there is no such row, it has no answer, or it has another failure.
std::optional<bool> fails_under(const ReproFacts &facts, const std::string &what);
bool has_row(const ReproFacts &facts, const std::string &what);

} // namespace repro_minify
