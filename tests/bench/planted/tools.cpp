#include "bench/planted/tools.h"

#include <algorithm>
#include <utility>

namespace repro_minify::bench {

IndexSet without(const IndexSet &all, std::size_t begin, std::size_t end) {
  IndexSet kept(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
  kept.insert(kept.end(), all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
  return kept;
}

Tool our_engine(int workers) {
  return {workers == 1 ? "ours" : "ours, " + std::to_string(workers) + " workers",
          [workers](const IndexSet &all, const planted::Model &model, const Fails &fails) {
            return engine(all, model, fails, workers);
          }};
}

namespace {

/// The first probability that the authors recommend.
constexpr double published_first = 0.1;

/// One that does not look at the graph.
template <typename Reduce> Tool blind(std::string name, Reduce reduce) {
  return {std::move(name),
          [reduce](const IndexSet &all, const planted::Model &, const Fails &fails) { return reduce(all, fails); }};
}

} // namespace

std::vector<Tool> tools() {
  return {our_engine(1), blind("ddmin", ddmin),
          blind("ProbDD", [](const IndexSet &all, const Fails &fails) { return prob_dd(all, fails, published_first); }),
          blind("CDD", [](const IndexSet &all, const Fails &fails) { return counter_dd(all, fails, published_first); }),
          // Better than the published one where far fewer than a tenth are needed.
          blind("CDD 3/n",
                [](const IndexSet &all, const Fails &fails) {
                  return counter_dd(all, fails, std::min(published_first, 3.0 / static_cast<double>(all.size())));
                }),
          blind("llvm-reduce", chunk_halving)};
}

} // namespace repro_minify::bench
