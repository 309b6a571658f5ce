// Several reductions of one program, each begun anew: what they took together.
#pragma once
#include "repro_minify/reducer.h"

namespace repro_minify {

/// The last Reduction, with what `earlier` has asked and taken counted as well. The operators that the passes of the
/// earlier one removed count where the last one went on from its result (`is_continued`), and not where it began anew.
Reduction with_earlier(Reduction last, const Reduction &earlier, bool is_continued);

} // namespace repro_minify
