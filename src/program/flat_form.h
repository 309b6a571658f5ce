// The form that every flat Program has, however it was made.
#pragma once
#include "repro_minify/program.h"

namespace repro_minify {

/// The last step of flattening: tensor constants become graph inputs, structured outputs their parts.
void finish_flat(Program &program);

} // namespace repro_minify
