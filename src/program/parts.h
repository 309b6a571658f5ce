// Programs with hundreds of parameters as modules.
#pragma once
#include "repro_minify/program.h"

namespace repro_minify {

/// Does what instantiate() does, but spreads parameters and buffers over submodules where there are many: to find one
/// of a module's attributes LibTorch looks at all of them, several times for each. Not for backends that take flat
/// graphs only: they look no further than the module itself.
Instance instantiate_in_parts(const Program &program, const InstantiateOptions &options = {});

} // namespace repro_minify
