// Finds the operators of a reduced program in the program that it was cut from.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// The facts by which an operator is found again.
struct OperatorPlace {
  std::string op;     ///< "aten::linear"
  std::string value;  ///< the name of its first result
  std::string source; ///< the line that it stands in; empty where it is not known
};

/// Returns for each operator of `reduced` the index of one of `original`, each of which is given once; -1 where none
/// can be told. Cuts keep the names of values as a rule. Where a pass gave a new one, the source tells, in the order of
/// the program; after that the operator alone, if `or_operator`.
std::vector<int> find_origins(const std::vector<OperatorPlace> &reduced, const std::vector<OperatorPlace> &original,
                              bool or_operator = false);

} // namespace repro_minify
