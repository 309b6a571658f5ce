// The loops of a kernel over a row of dimensions.
#pragma once

#include "backends/inductor_like/kernel.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

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
