// Numbers in texts, the same under every locale.
#pragma once
#include <string>

namespace repro_minify {

/// The shortest text that reads back as this very double: "0.001", "1e+30", "inf", "nan".
std::string shortest_text(double value);
std::string shortest_text(float value);
/// The shortest that reads back, and a floating-point literal of C++ and Python: "1.0", "1e+30". Of finite numbers.
std::string double_literal(double value);
std::string float_literal(float value); ///< the shortest that is this very float
/// For people: `digits` significant ones, "-" for what there is none of (NaN).
std::string rounded_text(double value, int digits = 3);

} // namespace repro_minify
