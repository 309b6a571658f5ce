// A loop in strips of many elements. What is fast only for many elements at once (MKL's functions, folds of columns)
// is given all of a strip; the statements before and after it are loops of their own over the strip.
#pragma once

#include "backends/inductor_like/kernel_body.h"

#include <cstdint>
#include <string>
#include <vector>

namespace repro_minify {

/// A loop that is shorter has none.
inline constexpr int64_t shortest_strip = 16;

struct Strip {
  std::string variable;    ///< of the loop
  std::string first, end;  ///< of the strip: from, and up to
  int64_t most = 0;        ///< elements
  std::string array = "a"; ///< ends the names of its arrays
};

/// True if one loop over the elements is not enough: a statement takes a whole strip, or is slow and needs a slow one.
bool want_strips(const std::vector<Statement> &statements);

/// How many elements a strip may have: its arrays lie on the stack, and are to stay in the first cache.
int64_t longest_strip(const std::vector<Statement> &statements);

/// The statement that takes in each element at the end, in order, and the line before its loop.
struct Collected {
  std::string statement, pragma;
};

/// The statements for all elements of a strip, one line each. Declares arrays: needs a scope of its own.
std::string over_strip(const std::vector<Statement> &statements, const Strip &strip, const Collected &collected = {});

} // namespace repro_minify
