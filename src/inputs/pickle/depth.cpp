#include "inputs/pickle/depth.h"

#include "inputs/pickle/value.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace repro_minify::pickle {
namespace {

std::vector<const Value *> parts_of(const Value &value) {
  std::vector<const Value *> parts(value.items.begin(), value.items.end());
  for (const auto &[key, entry] : value.entries)
    parts.insert(parts.end(), {key, entry});
  for (const Value *part : {value.callee, value.argument, value.state})
    if (part)
      parts.push_back(part);
  return parts;
}

struct Level {
  const Value *value;
  std::vector<const Value *> parts;
  std::size_t next = 0, deepest_part = 0;
};

} // namespace

bool is_deeper_than(const Document &document, std::size_t depth) {
  std::unordered_map<const Value *, std::size_t> depths; // 0: begun, and not done
  std::vector<Level> path;
  const auto begin = [&](const Value &value) {
    depths[&value] = 0;
    path.push_back({&value, parts_of(value)});
  };
  begin(*document.root);
  while (!path.empty()) {
    if (path.size() > depth)
      return true;
    Level &level = path.back();
    if (level.next < level.parts.size()) {
      const Value *part = level.parts[level.next++];
      if (const auto known = depths.find(part); known == depths.end())
        begin(*part);
      else
        level.deepest_part = std::max(level.deepest_part, known->second);
      continue;
    }
    const std::size_t reached = level.deepest_part + 1;
    if (path.size() - 1 + reached > depth)
      return true;
    depths[level.value] = reached;
    path.pop_back();
    if (!path.empty())
      path.back().deepest_part = std::max(path.back().deepest_part, reached);
  }
  return false;
}

} // namespace repro_minify::pickle
