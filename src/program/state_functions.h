// Code of a model's own that runs while it is loaded: __setstate__. It may do otherwise each time (it can draw numbers
// that no seed decides, and read the clock), so what a child has seen it do says nothing of the next time.
#pragma once
#include <torch/csrc/jit/api/module.h>

#include <string>

namespace repro_minify {

/// True if any object of the model is made by its own code.
bool has_state_functions(const torch::jit::Module &module);

/// Returns the bytes of an archive of the same model as it is now, whose objects are what they hold: loading it runs no
/// code of the model. The module has lost its __getstate__ and __setstate__ afterwards, so this is for children.
std::string archive_without_state_functions(const torch::jit::Module &module);

} // namespace repro_minify
