#include "reduce/search/mean_questions.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify::planted {
namespace {

constexpr int nodes = 1000;
constexpr std::uint64_t seeds = 24;

Predicate needs(const IndexSet &needed) {
  return [needed](const IndexSet &kept) { return contains_all(kept, needed); };
}

class MeanQuestions {
public:
  explicit MeanQuestions(const Reduce &reduce) : reduce_(reduce) {}

  void add(const Model &model, const Predicate &fails) {
    std::set<IndexSet> asked;
    reduce_(model, [&](const IndexSet &kept) {
      asked.insert(kept);
      return fails(kept);
    });
    questions_ += asked.size();
    ++count_;
  }
  double mean() const { return static_cast<double>(questions_) / count_; }

private:
  const Reduce &reduce_;
  std::size_t questions_ = 0;
  int count_ = 0;
};

/// Each node reads the one that is `branches` before it: as many lines beside each other, which begin together.
Model lines(int branches) {
  std::vector<std::pair<int, int>> edges;
  for (int node = 1; node < nodes; ++node)
    edges.emplace_back(node <= branches ? 0 : node - branches, node);
  return {Dataflow(nodes, edges), std::vector<std::string>(nodes, "aten::relu")};
}

IndexSet two_pairs(const Dataflow &dataflow, Random &random) {
  const IndexSet one = random_chain(dataflow, random, 2), other = random_chain(dataflow, random, 2);
  std::set<int> both(one.begin(), one.end());
  both.insert(other.begin(), other.end());
  return {both.begin(), both.end()};
}

} // namespace

double questions_on_blocks(const Reduce &reduce, std::uint64_t first_seed) {
  const Model model = transformer(nodes);
  MeanQuestions questions(reduce);
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    for (const char *family : {"single", "chain3", "far2", "window6"})
      questions.add(model, fault(model, family, seed));
    for (const Shape shape : {Shape::Adjacent, Shape::Scattered, Shape::Chain})
      for (const int count : {2, 5}) {
        Random random(seed * 7919 + static_cast<std::uint64_t>(count));
        questions.add(model, needs(planted_nodes(model.dataflow, random, shape, count)));
      }
  }
  return questions.mean();
}

double questions_on_other_graphs(const Reduce &reduce) {
  MeanQuestions questions(reduce);
  for (std::uint64_t seed = 5000; seed < 5000 + seeds; ++seed) {
    Random random(seed);
    const Model any{random_dataflow(random, nodes, /*shuffled=*/false), lines(1).kinds};
    for (const Model &model : {any, lines(1), lines(32)}) {
      questions.add(model, needs(random_connected(model.dataflow, random, 4)));
      questions.add(model, needs(sample(random, nodes, 3)));
      questions.add(model, needs(random_chain(model.dataflow, random, 8)));
      questions.add(model, needs(two_pairs(model.dataflow, random)));
    }
  }
  return questions.mean();
}

} // namespace repro_minify::planted
