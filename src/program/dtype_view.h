// x.view(torch.int32) in a TorchScript program.
#pragma once

namespace repro_minify {

/// Views of a tensor's memory as another dtype. In TorchScript a dtype is an int, and torch.view(x, 3) is a view of
/// another shape: aten::view.dtype cannot be said. PyTorch's own name for it that can be is an operator that Python
/// registers when torch is imported.
inline constexpr const char *dtype_view_name = "prims::view_of_dtype";

/// Registers it in this process, once, as Python does. Only where a program calls it: a plugin may bring a Python of
/// its own, which registers it itself.
void register_dtype_view();

} // namespace repro_minify
