#include "program/dtype_named.h"

#include "program/values.h"

#include <map>

namespace repro_minify {

std::optional<c10::ScalarType> dtype_named(const std::string &name) {
  static const auto by_name = [] {
    std::map<std::string, c10::ScalarType> names;
    for (int i = 0; i < static_cast<int>(c10::ScalarType::Undefined); ++i)
      names.emplace(dtype_name(static_cast<c10::ScalarType>(i)), static_cast<c10::ScalarType>(i));
    return names;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? std::nullopt : std::optional(found->second);
}

} // namespace repro_minify
