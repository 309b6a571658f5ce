// Several reductions of one program, each begun anew: what they took together.
#pragma once
#include "repro_minify/reducer.h"

namespace repro_minify {

/// The last Reduction, with what `earlier` has asked and taken counted as well. What the earlier one removed was put
/// back before the last one began, so that the operators that its passes removed do not count.
Reduction with_earlier(Reduction last, const Reduction &earlier);

} // namespace repro_minify
