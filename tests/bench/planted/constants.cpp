// How many questions a search asks, for constants.py, which compiles it with the constants of ours made variable: on
// the planted failures whose counts are locked, on others of the same families, and on other graphs.
#include "bench/planted/tools.h"
#include "reduce/search/mean_questions.h"

#include <cstdio>

int main(int argc, char **argv) {
  using namespace repro_minify;
  for (const bench::Tool &tool : bench::tools())
    if (tool.name == (argc > 1 ? argv[1] : bench::tools().front().name)) {
      const auto reduce = [&](const planted::Model &model, const planted::Predicate &fails) {
        return tool.reduce(planted::everything(model.dataflow.size()), model, fails);
      };
      std::printf("locked %.2f\n", planted::questions_on_blocks(reduce, 0));
      std::printf("fresh %.2f\n", planted::questions_on_blocks(reduce, 1000));
      std::printf("other %.2f\n", planted::questions_on_other_graphs(reduce));
    }
  return 0;
}
