#include "planted_faults.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>

namespace repro_minify::planted {
namespace {

/// Builds a model node by node, in the order of execution.
class ModelBuilder {
public:
  int add(std::string kind, const std::vector<int> &producers) {
    const int node = static_cast<int>(kinds.size());
    for (int producer : producers)
      edges.emplace_back(producer, node);
    kinds.push_back(std::move(kind));
    return node;
  }
  int add_block(int input);

  std::vector<std::string> kinds;
  std::vector<std::pair<int, int>> edges;
};

int ModelBuilder::add_block(int input) {
  const int qkv = add("linear_qkv", {add("norm", {input})});
  const int split = add("split", {qkv});
  const int q = add("getitem0", {split}), k = add("getitem1", {split}), v = add("getitem2", {split});
  const int q_view = add("view", {q}), k_view = add("view", {k}), v_view = add("view", {v});
  const int q_rope = add("rope", {q_view}), k_rope = add("rope", {k_view});
  const int scores = add("matmul_qk", {q_rope, add("transpose", {k_rope})});
  const int weights = add("softmax", {add("mask", {add("scale", {scores})})});
  const int mixed = add("view_o", {add("matmul_pv", {weights, v_view})});
  const int attended = add("add", {input, add("linear_o", {mixed})});
  const int up = add("linear_up", {add("norm", {attended})});
  const int down = add("linear_down", {add("gelu", {up})});
  return add("add", {attended, down});
}

Predicate needs_all(IndexSet needed) {
  std::sort(needed.begin(), needed.end());
  return [needed = std::move(needed)](const IndexSet &kept) { return contains_all(kept, needed); };
}

Predicate needs_one_group_of(std::vector<IndexSet> groups) {
  for (IndexSet &group : groups)
    std::sort(group.begin(), group.end());
  return [groups = std::move(groups)](const IndexSet &kept) {
    return std::any_of(groups.begin(), groups.end(), [&](const IndexSet &group) { return contains_all(kept, group); });
  };
}

IndexSet chain_of(const Dataflow &dataflow, Random &random, std::size_t length) {
  for (;;)
    if (IndexSet chain = random_chain(dataflow, random, static_cast<int>(length)); chain.size() == length)
      return chain;
}

Predicate one_operator_anywhere(const Model &model, Random &random) {
  const std::string kind = model.kinds[static_cast<std::size_t>(1 + below(random, 25))];
  std::vector<IndexSet> groups;
  for (int node = 0; node < model.dataflow.size(); ++node)
    if (model.kinds[static_cast<std::size_t>(node)] == kind)
      groups.push_back({node});
  return needs_one_group_of(std::move(groups));
}

/// Every chain of the same three operators as `chain`.
Predicate same_chain_anywhere(const Model &model, const IndexSet &chain) {
  const auto same_kind = [&](int node, std::size_t i) {
    return model.kinds[static_cast<std::size_t>(node)] == model.kinds[static_cast<std::size_t>(chain[i])];
  };
  std::vector<IndexSet> groups;
  for (int first = 0; first < model.dataflow.size(); ++first)
    for (int second : model.dataflow.consumers(first))
      for (int third : model.dataflow.consumers(second))
        if (same_kind(first, 0) && same_kind(second, 1) && same_kind(third, 2))
          groups.push_back({first, second, third});
  return needs_one_group_of(std::move(groups));
}

/// An error that builds up: it shows once eight linear layers are there, whichever they are.
Predicate accumulates(const Model &model, int threshold) {
  std::vector<char> counts(model.kinds.size());
  for (std::size_t node = 0; node < counts.size(); ++node)
    counts[node] = model.kinds[node].starts_with("linear");
  return [counts = std::move(counts), threshold](const IndexSet &kept) {
    return std::count_if(kept.begin(), kept.end(), [&](int node) { return counts[static_cast<std::size_t>(node)]; }) >=
           threshold;
  };
}

} // namespace

int below(Random &random, int bound) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(bound));
}

IndexSet sample(Random &random, int size, int count) {
  std::set<int> chosen;
  while (static_cast<int>(chosen.size()) < std::min(count, size))
    chosen.insert(below(random, size));
  return {chosen.begin(), chosen.end()};
}

bool contains_all(const IndexSet &set, const IndexSet &subset) {
  return std::includes(set.begin(), set.end(), subset.begin(), subset.end());
}

IndexSet everything(int size) {
  IndexSet all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Model transformer(int size) {
  ModelBuilder builder;
  int last = builder.add("embed", {});
  while (static_cast<int>(builder.kinds.size()) < size)
    last = builder.add_block(last);
  return Model{Dataflow(static_cast<int>(builder.kinds.size()), builder.edges), std::move(builder.kinds)};
}

Dataflow random_dataflow(Random &random, int size, bool shuffled) {
  std::vector<int> name = everything(size);
  if (shuffled)
    for (int i = size - 1; i > 0; --i)
      std::swap(name[static_cast<std::size_t>(i)], name[static_cast<std::size_t>(below(random, i + 1))]);
  std::vector<std::pair<int, int>> edges;
  for (int node = 1; node < size; ++node)
    for (int reads = 1 + below(random, 2); reads > 0; --reads) {
      const int producer = std::max(0, node - 1 - below(random, 4));
      edges.emplace_back(name[static_cast<std::size_t>(producer)], name[static_cast<std::size_t>(node)]);
    }
  return Dataflow(size, edges);
}

IndexSet random_chain(const Dataflow &dataflow, Random &random, int length) {
  IndexSet chain{below(random, dataflow.size())};
  while (static_cast<int>(chain.size()) < length && !dataflow.consumers(chain.back()).empty()) {
    const IndexSet &consumers = dataflow.consumers(chain.back());
    chain.push_back(consumers[static_cast<std::size_t>(below(random, static_cast<int>(consumers.size())))]);
  }
  return chain;
}

IndexSet random_connected(const Dataflow &dataflow, Random &random, int count) {
  IndexSet nodes{below(random, dataflow.size())};
  while (static_cast<int>(nodes.size()) < std::min(count, dataflow.size())) {
    IndexSet border;
    for (int node : nodes)
      for (const IndexSet *side : {&dataflow.producers(node), &dataflow.consumers(node)})
        for (int neighbour : *side)
          if (!std::binary_search(nodes.begin(), nodes.end(), neighbour))
            border.push_back(neighbour);
    nodes.push_back(border[static_cast<std::size_t>(below(random, static_cast<int>(border.size())))]);
    std::sort(nodes.begin(), nodes.end());
  }
  return nodes;
}

Predicate fault(const Model &model, const std::string &family, std::uint64_t seed) {
  Random random(seed * 7 + 1);
  if (family == "single")
    return needs_all(sample(random, model.dataflow.size(), 1));
  if (family == "single_rep")
    return one_operator_anywhere(model, random);
  if (family == "chain3")
    return needs_all(chain_of(model.dataflow, random, 3));
  if (family == "chain3_rep")
    return same_chain_anywhere(model, chain_of(model.dataflow, random, 3));
  if (family == "far2")
    return needs_all(sample(random, model.dataflow.size(), 2));
  if (family == "window6")
    return needs_all(random_connected(model.dataflow, random, 6));
  if (family == "accum8")
    return accumulates(model, 8);
  throw std::invalid_argument("no such family of faults: " + family);
}

IndexSet planted_nodes(const Dataflow &dataflow, Random &random, Shape shape, int count) {
  IndexSet nodes;
  if (shape == Shape::Scattered)
    nodes = sample(random, dataflow.size(), count);
  else if (shape == Shape::Chain)
    nodes = chain_of(dataflow, random, static_cast<std::size_t>(count));
  else
    for (int first = below(random, dataflow.size() - count + 1); static_cast<int>(nodes.size()) < count; ++first)
      nodes.push_back(first);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

double information_bound(int nodes, int count) {
  double bits = 0;
  for (int i = 0; i < count; ++i)
    bits += std::log2(static_cast<double>(nodes - i) / (i + 1));
  return bits;
}

unsigned noise(const IndexSet &set, std::uint64_t seed) {
  std::uint64_t hash = seed * 2 + 1;
  for (int node : set)
    hash = (hash ^ static_cast<std::uint64_t>(node + 1)) * 0x100000001b3ULL + (hash >> 29);
  return static_cast<unsigned>(hash * 0x9e3779b97f4a7c15ULL >> 48);
}

bool is_one_minimal(const IndexSet &kept, const Predicate &predicate) {
  if (!predicate(kept))
    return false;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    IndexSet smaller = kept;
    smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(i));
    if (predicate(smaller))
      return false;
  }
  return true;
}

} // namespace repro_minify::planted
