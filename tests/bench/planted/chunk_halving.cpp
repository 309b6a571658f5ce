// llvm-reduce: leave out each chunk in turn, the last one first. As long as chunks go, the same size is tried again;
// then all chunks are halved. Ends when a whole descent removes nothing.
#include "bench/planted/tools.h"

#include <algorithm>
#include <utility>

namespace repro_minify::bench {
namespace {

using Chunks = std::vector<IndexSet>;

IndexSet joined(const Chunks &chunks, std::size_t except) {
  IndexSet nodes;
  for (std::size_t i = 0; i < chunks.size(); ++i)
    if (i != except)
      nodes.insert(nodes.end(), chunks[i].begin(), chunks[i].end());
  return nodes;
}

bool leave_out_chunks(Chunks &chunks, const Fails &fails) {
  bool any = false;
  for (std::size_t i = chunks.size(); i-- > 0;) {
    const IndexSet others = joined(chunks, i);
    if (others.empty() || !fails(others))
      continue;
    chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(i));
    any = true;
  }
  return any;
}

bool halve(Chunks &chunks) {
  Chunks halves;
  for (const IndexSet &chunk : chunks) {
    const auto middle = chunk.begin() + static_cast<std::ptrdiff_t>((chunk.size() + 1) / 2);
    halves.emplace_back(chunk.begin(), middle);
    if (middle != chunk.end())
      halves.emplace_back(middle, chunk.end());
  }
  const bool changed = halves.size() > chunks.size();
  chunks = std::move(halves);
  return changed;
}

IndexSet descend(const IndexSet &all, const Fails &fails) {
  Chunks chunks{all};
  do
    while (leave_out_chunks(chunks, fails)) {
    }
  while (halve(chunks));
  return joined(chunks, chunks.size());
}

} // namespace

IndexSet chunk_halving(const IndexSet &all, const Fails &fails) {
  for (IndexSet kept = all;;) {
    IndexSet smaller = descend(kept, fails);
    if (smaller.size() == kept.size())
      return smaller;
    kept = std::move(smaller);
  }
}

} // namespace repro_minify::bench
