#include "bench/planted/failures.h"

#include <utility>

namespace repro_minify::bench {
namespace {

using namespace planted;

constexpr std::pair<Shape, const char *> shapes[] = {
    {Shape::Adjacent, "adjacent"}, {Shape::Scattered, "scattered"}, {Shape::Chain, "chain"}};

/// The longest path of a transformer of 51 nodes has 35 nodes, so that every chain asked for exists.
Row grid_row(std::shared_ptr<const Model> model, Shape shape, const std::string &shape_name, int needed) {
  const int nodes = model->dataflow.size();
  const auto plant = [model, shape, needed](std::uint64_t seed) -> Predicate {
    Random random(seed * 7919 + static_cast<std::uint64_t>(needed));
    IndexSet nodes_needed = planted_nodes(model->dataflow, random, shape, needed);
    return [nodes_needed = std::move(nodes_needed)](const IndexSet &kept) { return contains_all(kept, nodes_needed); };
  };
  return {std::to_string(nodes) + " " + shape_name + " " + std::to_string(needed),
          model,
          needed,
          information_bound(nodes, needed),
          true,
          plant};
}

} // namespace

std::vector<Row> family_rows(int nodes) {
  struct Family {
    const char *name;
    int needed;
    bool one_set;
  };
  const Family families[] = {{"single", 1, true},      {"single_rep", 1, false}, {"chain3", 3, true},
                             {"chain3_rep", 3, false}, {"far2", 2, true},        {"window6", 6, true},
                             {"accum8", 8, false}};
  const auto model = std::make_shared<const Model>(transformer(nodes));
  std::vector<Row> rows;
  for (const Family &family : families)
    rows.push_back({std::to_string(model->dataflow.size()) + " " + family.name, model, family.needed,
                    family.one_set ? information_bound(model->dataflow.size(), family.needed) : 0, false,
                    [model, name = family.name](std::uint64_t seed) { return fault(*model, name, seed); }});
  return rows;
}

std::vector<Row> grid_rows(const std::vector<int> &sizes) {
  std::vector<Row> rows;
  for (int size : sizes) {
    const auto model = std::make_shared<const Model>(transformer(size));
    for (const auto &[shape, name] : shapes)
      for (int needed : {1, 2, 3, 5, 8, 12, 20})
        rows.push_back(grid_row(model, shape, name, needed));
  }
  return rows;
}

} // namespace repro_minify::bench
