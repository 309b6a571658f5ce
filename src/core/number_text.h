// Numbers in texts, the same under every locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace repro_minify {

/// The shortest text that reads back as this very double: "0.001", "1e+30", "inf", "nan".
std::string shortest_text(double value);
std::string shortest_text(float value);
/// The shortest that reads back, and a floating-point literal of C++ and Python: "1.0", "1e+30". Of finite numbers.
std::string double_literal(double value);
std::string float_literal(float value); ///< the shortest that is this very float
/// For people: `digits` significant ones, "-" for what there is none of (NaN).
std::string rounded_text(double value, int digits = 3);
/// The number that rounded_text() shows. Through text: scaling and rounding would leave 0.30000000000000004.
double rounded(double value, int digits);
/// With so many digits behind the point: "0.0", "12.3".
std::string fixed_text(double value, int digits);
/// "4 MiB", and less than that in bytes.
std::string memory_text(std::uint64_t bytes);
/// `width` digits or more, with zeros in front: "0x0a" without its "0x" is padded_text(10, 2, 16).
std::string padded_text(std::uint64_t value, std::size_t width, int base = 10);

// Two numbers side by side, with the digits that matter.

/// With `digits` significant digits, or as many more as it takes to see by how much they differ: "1.00000012" and
/// "1.00000024". Whole numbers below ten thousand million have all their digits; NaN is "nan".
std::pair<std::string, std::string> differing_texts(double one, double other, int digits);

} // namespace repro_minify
