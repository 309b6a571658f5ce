// The word that a mistyped one was meant to be.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// The first of those of `known` that are nearest to `word`, by letters that are missing, too many, others, or swapped
/// with their neighbour; in either case. Empty where that is more than one in three of them, hyphens in front not
/// counted.
std::string closest(const std::string &word, const std::vector<std::string> &known);

/// "; did you mean X?" with that, or nothing.
std::string did_you_mean(const std::string &word, const std::vector<std::string> &known);

} // namespace repro_minify
