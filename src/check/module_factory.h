// The ModuleFactory of a check, in the form that the backend takes.
#pragma once

#include "repro_minify/check.h"

namespace repro_minify {

/// Returns the same as factory_of(), but in parts (see program/parts.h) where the backend allows it.
ModuleFactory factory_for(std::shared_ptr<const Program> program, const Backend &backend);

} // namespace repro_minify
