#include "backends/inductor_like/kernel_body.h"
#include "backends/inductor_like/kernel_index.h"
#include "backends/inductor_like/kernel_strips.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

/// Two neighbouring loops are one where every place moves by the same step when the inner one wraps around.
bool can_merge(const Body &body, const Loops &loops, size_t inner) {
  const std::string a = loops.name(loops.groups[inner - 1]), b = loops.name(loops.groups[inner]);
  return std::all_of(body.places().begin(), body.places().end(), [&](const Index &place) {
    return !place.is_divided(a) && !place.is_divided(b) &&
           place.coefficient(a) == place.coefficient(b) * loops.groups[inner].extent;
  });
}

} // namespace

Loops::Loops(const std::vector<int64_t> &of, std::string named) : sizes(of), letter(std::move(named)) {
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1)
      groups.push_back({d, sizes[d]});
}

std::vector<Index> Loops::indices() const {
  std::vector<Index> result(sizes.size());
  for (const Group &group : groups)
    result[group.last] = Index::variable(name(group), group.extent);
  return result;
}

Loops Loops::merged(size_t inner) const {
  Loops result = *this;
  result.groups[inner].extent *= groups[inner - 1].extent;
  result.groups.erase(result.groups.begin() + static_cast<std::ptrdiff_t>(inner) - 1);
  return result;
}

std::pair<Loops, Body> merged_loops(Loops loops, const std::function<Body(const Loops &)> &make_body) {
  Body body = make_body(loops);
  for (size_t inner = loops.groups.size(); inner-- > 1;) {
    if (!can_merge(body, loops, inner))
      continue;
    const Loops merged = loops.merged(inner);
    Body over_merged = make_body(merged);
    const std::string name = merged.name(merged.groups[inner - 1]);
    if (std::any_of(over_merged.places().begin(), over_merged.places().end(),
                    [&](const Index &place) { return place.is_divided(name); }))
      continue;
    loops = merged;
    body = std::move(over_merged);
  }
  return {std::move(loops), std::move(body)};
}

std::string loop_head(const std::string &variable, const std::string &first, const std::string &end, int64_t step) {
  return "for (int64_t " + variable + " = " + first + "; " + variable + " < " + end + "; " +
         (step == 1 ? "++" + variable : variable + " += " + std::to_string(step)) + ")";
}

int64_t product(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

std::string start_value(Fold fold, Element element) {
  const bool floating = is_floating(element);
  const std::string type = storage_type(element);
  switch (fold) {
  case Fold::Product:
  case Fold::All:
    return "1";
  case Fold::Largest:
    return floating ? "-__builtin_inf()" : "lowest<" + type + ">()";
  case Fold::Smallest:
    return floating ? "__builtin_inf()" : "highest<" + type + ">()";
  default:
    return "0";
  }
}

std::string folded(Fold fold, const std::string &sum, const std::string &value) {
  switch (fold) {
  case Fold::Sum:
    return sum + " += " + value;
  case Fold::Product:
    return sum + " *= " + value;
  case Fold::Largest: // NaN wins
    return sum + " = " + sum + " >= " + value + " || " + sum + " != " + sum + " ? " + sum + " : " + value;
  case Fold::Smallest:
    return sum + " = " + sum + " <= " + value + " || " + sum + " != " + sum + " ? " + sum + " : " + value;
  case Fold::Any:
    return sum + " = " + sum + " || " + value;
  default:
    return sum + " = " + sum + " && " + value;
  }
}

} // namespace repro_minify
