// The sentence that a report begins with, its title too.
#pragma once
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

/// "torch.compile: `x.unfold(0, 2, 1).neg_()` gives 1 at [0], expected -1 (functionalization)": what, on what, found,
/// expected, whose fault. `call` names the program; empty: its operators are listed.
std::string headline(const Program &program, const ReproFacts &facts, const std::string &call = "");

/// The same as a sentence of Markdown.
std::string sentence(const Program &program, const ReproFacts &facts);

/// The expected value and the one found, each in few words: {"-0.2934", "1.541"}. Empty texts where the failure is of
/// another kind.
struct BothValues {
  std::string expected, found;
  std::string place; ///< "[0, 1]"; empty for a single number
};
BothValues both_values(const ReproFacts &facts);

} // namespace repro_minify
