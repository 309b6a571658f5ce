// A pass's golden as a text file: the program, what the failure needs of it, what comes out and in how many checks.
#pragma once
#include "reduce/structural_oracle.h"

#include <string>

namespace repro_minify::testing_support {

struct GoldenFile {
  std::string head; ///< up to what comes out, as it stands in the file
  std::string rest; ///< what came out when it was written
  Program program;
  Predicate needs;
};

/// Reads what docs/writing-a-pass.md describes. Throws std::runtime_error with the line that cannot be read.
GoldenFile read_golden(const std::string &text);

/// Returns the outcome of a reduction with one pass as the text that `rest` has.
std::string golden_rest(const Reduction &reduction);

} // namespace repro_minify::testing_support
