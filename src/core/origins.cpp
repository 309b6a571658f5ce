#include "core/origins.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

using Key = std::pair<std::string, std::string>; // an operator, and its value or its source
using KeyOf = Key (*)(const OperatorPlace &);

Key by_value(const OperatorPlace &place) {
  return {place.op, place.value};
}
Key by_source(const OperatorPlace &place) {
  return {place.op, place.source};
}
Key by_operator(const OperatorPlace &place) {
  return {place.op, ""};
}

} // namespace

std::vector<int> find_origins(const std::vector<OperatorPlace> &reduced, const std::vector<OperatorPlace> &original,
                              bool or_operator) {
  std::vector<int> found(reduced.size(), -1);
  std::vector<bool> taken(original.size());
  for (const KeyOf key : {by_value, by_source, by_operator}) {
    if (key == by_operator && !or_operator)
      break;
    std::map<Key, std::vector<size_t>> places;
    for (size_t i = 0; i < original.size(); ++i)
      places[key(original[i])].push_back(i);
    for (size_t i = 0; i < reduced.size(); ++i)
      if (found[i] < 0 && (key != by_source || !reduced[i].source.empty()))
        for (const size_t place : places[key(reduced[i])])
          if (found[i] < 0 && !taken[place]) {
            found[i] = static_cast<int>(place);
            taken[place] = true;
          }
  }
  return found;
}

} // namespace repro_minify
