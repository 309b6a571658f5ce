// Ours: nothing is known beside the graph.
#include "bench/planted/tools.h"

#include "reduce/search.h"

namespace repro_minify::bench {
namespace {

class Forwarding final : public Oracle {
public:
  explicit Forwarding(const Fails &fails) : fails_(fails) {}
  bool fails(const IndexSet &kept) override { return fails_(kept); }

private:
  const Fails &fails_;
};

} // namespace

IndexSet engine(const IndexSet &all, const planted::Model &model, const Fails &fails, int workers) {
  Forwarding oracle(fails);
  SearchOptions options;
  options.speculation_width = workers;
  return minimize(all, model.dataflow, oracle, options);
}

} // namespace repro_minify::bench
