// Rows of the ablation that more than a reader looks at.
#pragma once

namespace repro_minify::ablation_names {

constexpr const char *inductor = "inductor";
constexpr const char *aot_eager = "torch.compile, backend=aot_eager";
constexpr const char *emulated = "inductor, emulate_precision_casts=True";

} // namespace repro_minify::ablation_names
