// Two numbers side by side, with the digits that matter.
#pragma once
#include <string>
#include <utility>

namespace repro_minify {

/// With `digits` significant digits, or as many more as it takes to see by how much they differ: "1.00000012" and
/// "1.00000024". Whole numbers below ten thousand million have all their digits; NaN is "nan".
std::pair<std::string, std::string> differing_texts(double one, double other, int digits);

} // namespace repro_minify
