// The fp64 reference: the same program in float64 (complex128).
#pragma once
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace repro_minify {

/// Arguments named `dtype` that are constants of a floating type become float64 (complex128 for complex ones), as
/// PyTorch's cast_dtype_args_to_fp64 does; so do floating tensor constants. Nested blocks included.
void widen_graph(torch::jit::Block *block);

/// Every parameter, buffer and tensor attribute, and every graph of the module and of what it calls.
void widen_module(torch::jit::Module &module);

} // namespace repro_minify
