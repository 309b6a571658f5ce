// Numbers in a graph that say how large something is: they have to follow when the inputs get smaller.
#pragma once
#include "repro_minify/program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace repro_minify {

/// Maps each size to the one that it becomes.
using SizeMap = std::map<std::int64_t, std::int64_t>;

/// True if argument `i` of the node, or what is made of it, says how large something is.
bool is_size(const torch::jit::Node *node, std::size_t i);

/// The sizes that a graph's constants name (aten::zeros([12, 12]), aten::view(x, [-1, 32])), 1 and less left out.
std::set<std::int64_t> sizes_in_graph(const Program &program);

/// Which factors of a product follow.
enum class Factors {
  All, ///< all dimensions of a size shrink: each factor that the map has
  One, ///< one of several does: only one factor
};

/// Returns what `size` becomes: by the map, or as a product of two or three `sizes` of which the map has one. Nothing
/// where neither is so.
std::optional<std::int64_t> mapped_size(std::int64_t size, const SizeMap &map, const std::set<std::int64_t> &sizes,
                                        Factors factors = Factors::All);

/// Size arguments and trip counts follow the map; an index stays within what is left. Nothing when nothing changes.
std::optional<Program> with_size_constants(const Program &program, const SizeMap &map,
                                           const std::set<std::int64_t> &sizes, Factors factors);

} // namespace repro_minify
