// Tests if a Program has what a planted failure needs: the same questions as fails() in graphs.py asks of an FX graph.
#pragma once
#include "repro_minify/program.h"

#include <string>
#include <vector>

namespace repro_minify::bench {

struct StructuralOracle {
  enum class Kind {
    Count, ///< at least `least` nodes of each operator
    Live,  ///< likewise, among the nodes that an output depends on
    Path,  ///< a live node of the second operator depends on a node of the first
  };
  Kind kind = Kind::Count;
  std::vector<c10::Symbol> operators;
  int least = 1;

  bool fails(const Program &program) const;
};

/// From the words of graphs.py ("count", "live", "path"). Throws std::invalid_argument for another.
StructuralOracle::Kind kind_from(const std::string &word);

} // namespace repro_minify::bench
