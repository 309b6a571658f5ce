// Sizes: dimensions of one size probably have to agree, so they shrink together, and the sizes that the graph names
// follow. All at once to 1 and 2, then one group of dimensions after the other, then single dimensions.
#include "reduce/passes/pass.h"

#include "program/formula.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/focus.h"
#include "reduce/passes/remake_input.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace repro_minify {
namespace {

struct Dimension {
  size_t input;
  size_t dimension;
  auto operator<=>(const Dimension &) const = default;
};
/// Dimensions of one size; none for a size that only the graph names.
using Group = std::vector<Dimension>;

int64_t size_at(const Program &program, const Dimension &at) {
  return program.inputs[at.input].value.toTensor().size(static_cast<int64_t>(at.dimension));
}

std::map<int64_t, Group> groups_of(const Program &program) {
  std::map<int64_t, Group> groups;
  for (int64_t size : sizes_in_graph(program))
    groups[size] = {};
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const auto &tensor = program.inputs[i].value.toTensor();
    if (tensor.numel() == 0 || (!program.inputs[i].formula && !is_dense(tensor)))
      continue;
    for (size_t d = 0; d < static_cast<size_t>(tensor.dim()); ++d)
      if (size_at(program, {i, d}) > 1)
        groups[size_at(program, {i, d})].push_back({i, d});
  }
  return groups;
}

std::set<int64_t> sizes_of(const Program &program) {
  std::set<int64_t> sizes;
  for (const auto &[size, group] : groups_of(program))
    sizes.insert(size);
  return sizes;
}

/// The inputs with these dimensions as large as said; the graph as it is.
std::optional<Program> resized(const Program &program, const std::map<Dimension, int64_t> &target, const Focus &focus) {
  Program result = program;
  for (auto at = target.begin(); at != target.end();) {
    const size_t input = at->first.input;
    const auto &old = program.inputs[input].value.toTensor();
    std::vector<int64_t> sizes = old.sizes().vec(), start(sizes.size());
    for (; at != target.end() && at->first.input == input; ++at) {
      const size_t d = at->first.dimension;
      start[d] = focus.start(input, d, sizes[d], at->second);
      sizes[d] = at->second;
    }
    auto changed = with_sizes(program.inputs[input], sizes, start);
    if (!changed)
      return std::nullopt;
    result.inputs[input] = std::move(*changed);
  }
  return result;
}

/// Offers smaller versions of one Program.
class Shrinker {
public:
  explicit Shrinker(EngineContext &context)
      : context_(context), base_(context.current), sizes_(sizes_of(base_)), foci_(foci_of(base_, context.verdict)) {}

  /// The dimensions, and every number of the graph that goes by the map with them; the graph as it is; then, what is a
  /// product of sizes as the product of what these become.
  bool accept(const std::vector<Dimension> &dimensions, const SizeMap &map) {
    std::map<Dimension, int64_t> target;
    for (const auto &at : dimensions)
      target[at] = map.at(size_at(base_, at));
    std::vector<LazyProgram> candidates;
    add(target, map, candidates);
    if (const SizeMap products = with_products(map); products != map) {
      for (const auto &[size, group] : groups_of(base_))
        for (const auto &at : group)
          if (const auto found = products.find(size); found != products.end())
            target[at] = found->second;
      add(target, products, candidates);
    }
    return accept_first(context_, candidates);
  }

  /// Searches for the smallest size of a group of `size` that still fails, and accepts it.
  void shrink(const Group &group, int64_t size) {
    const auto accept_size = [&](int64_t to) { return accept(group, {{size, to}}); };
    if (accept_size(1) || size <= 2 || accept_size(2))
      return;
    int64_t too_small = 2, enough = size;
    while (enough - too_small > 1) {
      const int64_t next = next_size(too_small, enough, size);
      (accept_size(next) ? enough : too_small) = next;
    }
  }

private:
  /// Returns the size to try next. The size that a failure needs is small as a rule, a vector's width or a block: from
  /// below it takes two questions for each doubling, and halving takes one for each doubling up to where it starts
  /// from. Past the square root halving is shorter, for a failure that needs nearly the whole size.
  static int64_t next_size(int64_t too_small, int64_t enough, int64_t size) {
    const int64_t twice = 2 * too_small;
    return enough == size && twice < size / twice ? twice : too_small + (enough - too_small) / 2;
  }

  void add(const std::map<Dimension, int64_t> &target, const SizeMap &map, std::vector<LazyProgram> &candidates) const {
    for (const Focus &focus : foci_) {
      const auto smaller = resized(base_, target, focus);
      if (!smaller)
        return;
      for (const bool all_factors : {true, false})
        if (const auto followed = with_size_constants(*smaller, map, sizes_, all_factors))
          candidates.push_back([followed] { return *followed; });
      if (!target.empty())
        candidates.push_back([smaller] { return *smaller; });
    }
  }

  /// Sizes that are products of others become the products of what these become.
  SizeMap with_products(const SizeMap &map) const {
    SizeMap result = map;
    for (int64_t size : sizes_) {
      SizeMap others = map;
      others.erase(size);
      if (const auto product = mapped_size(size, others, sizes_); product && *product < size)
        result[size] = *product;
    }
    return result;
  }

  EngineContext &context_;
  const Program base_;
  const std::set<int64_t> sizes_;
  const std::vector<Focus> foci_;
};

/// All dimensions at most this large.
bool accept_all(EngineContext &context, int64_t most) {
  SizeMap map;
  std::vector<Dimension> dimensions;
  for (const auto &[size, group] : groups_of(context.current)) {
    if (size <= most)
      continue;
    map[size] = most;
    dimensions.insert(dimensions.end(), group.begin(), group.end());
  }
  return !map.empty() && Shrinker(context).accept(dimensions, map);
}

void shrink_groups(EngineContext &context, const std::map<int64_t, Group> &groups) {
  for (auto at = groups.rbegin(); at != groups.rend(); ++at) {
    const auto &[size, group] = *at;
    const int64_t now = group.empty() ? size : size_at(context.current, group.front());
    if (now > 1)
      Shrinker(context).shrink(group, now);
  }
}

/// One dimension alone: it may be broadcast against the others.
void shrink_singly(EngineContext &context) {
  constexpr int most_dimensions = 12;
  int tried = 0;
  for (const auto &[size, group] : groups_of(context.current))
    for (const auto &at : group)
      if (group.size() > 1 && ++tried <= most_dimensions && size_at(context.current, at) == size)
        Shrinker(context).accept({at}, {{size, 1}});
  if (tried > most_dimensions)
    context.incomplete("tried " + std::to_string(most_dimensions) + " of " + std::to_string(tried) +
                       " dimensions on their own");
}

} // namespace

void shrink_sizes(EngineContext &context) {
  note_large_inputs(context);
  const auto groups = groups_of(context.current);
  if (groups.empty() || accept_all(context, 1))
    return;
  if (groups.rbegin()->first > 2)
    accept_all(context, 2);
  shrink_groups(context, groups);
  shrink_singly(context);
}

} // namespace repro_minify
