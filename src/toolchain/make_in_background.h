// Precompiling a header for later runs.
#pragma once
#include "toolchain/precompiled_header.h"

namespace repro_minify {

/// PrecompiledHeader::make() in a process that outlives this one, in a session of its own, with no open files, a little
/// less urgent than others. Nothing where it is not wanted, or memory or disk are short (3 GB).
void make_in_background(const PrecompiledHeader &header);

} // namespace repro_minify
