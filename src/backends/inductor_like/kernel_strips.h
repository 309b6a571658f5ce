// A loop in strips of many elements. What is fast only for many elements at once (MKL's functions, folds of columns)
// is given all of a strip; the statements before and after it are loops of their own over the strip.
#pragma once
#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_body.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
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

// The loops of a kernel over a row of dimensions.

/// Neighbouring dimensions may be merged: their last one then runs over all of them.
struct Loops {
  std::vector<int64_t> sizes;
  std::string letter;
  struct Group {
    size_t last = 0;
    int64_t extent = 1;
  };
  std::vector<Group> groups; ///< dimensions of size 1 have no loop

  Loops(const std::vector<int64_t> &of, std::string named);
  std::string name(const Group &group) const { return letter + std::to_string(group.last); }
  std::vector<Index> indices() const;
  Loops merged(size_t inner) const;
};

/// The loops with neighbours merged wherever every place that the body computes allows it, and the body over them.
std::pair<Loops, Body> merged_loops(Loops loops, const std::function<Body(const Loops &)> &make_body);

/// "for (int64_t VARIABLE = FIRST; VARIABLE < END; VARIABLE += STEP)".
std::string loop_head(const std::string &variable, const std::string &first, const std::string &end, int64_t step = 1);

int64_t product(const std::vector<int64_t> &sizes);

// The value that a reduction starts from, and how it takes in one more: C++ for the processor and for CUDA alike.

std::string start_value(Fold fold, Element element);
/// A statement without its semicolon.
std::string folded(Fold fold, const std::string &sum, const std::string &value);

} // namespace repro_minify
