// Splice: remove nodes and let their readers read something earlier instead. A cut can only turn a value into an input;
// where the failure needs a path from one node to another, only a splice makes the path shorter.
#include "reduce/passes/program_oracle.h"

#include "reduce/passes/pass.h"
#include "reduce/passes/remake_input.h"
#include "reduce/passes/splice_sites.h"

#include <algorithm>
#include <numeric>

namespace repro_minify {
namespace {

/// With fewer sites than this, one by one costs no more than a search over sets.
constexpr int worth_a_search = 8;

/// So many single edits accepted one after another make it worth trying several at once.
constexpr int enough_in_a_row = 3;

/// Whole stretches: which of the Program's sites can go together.
void splice_stretches(EngineContext &context) {
  if (order_of(context.current).operators < worth_a_search)
    return;
  const auto recording = context.record();
  if (!recording)
    return;
  const Splicer splicer(recording);
  if (splicer.sites() < worth_a_search)
    return;
  IndexSet all(static_cast<size_t>(splicer.sites()));
  std::iota(all.begin(), all.end(), 0);
  ProgramOracle oracle(context, [&splicer](const IndexSet &kept) { return splicer.keep(kept); });
  SearchOptions search;
  search.speculation_width = speculation_width(context);
  // After a cut, each end is needed and what lies between is often only the way from one to another.
  search.guesses = {splicer.ends()};
  minimize(all, splicer.dataflow(), oracle, search);
}

int nodes_in(const Program &program) {
  return static_cast<int>(all_nodes(*program.graph).size());
}

struct Several {
  Program program;
  int next;  ///< nodes from here on were looked at
  int edits; ///< how many were made
};

/// The first edit of each of the last `width` nodes before number `end` that have one, made one on the other.
Several edit_several(const Program &program, int end, int width) {
  Several several{program, end, 0};
  while (several.edits < width) {
    several.next = std::min(several.next, nodes_in(several.program));
    if (several.next == 0)
      break;
    const auto edits = single_edits(several.program, --several.next);
    if (edits.empty())
      continue;
    Program edited = edits.front()();
    several.program = std::move(edited);
    ++several.edits;
  }
  return several;
}

/// Tries what no set of sites covers: nodes inside blocks, operands of another shape, unread nodes, carried values.
/// Goes from the last node to the first; after a few in a row were accepted, it tries several at once, and half as many
/// where those are not. Returns true if any was accepted.
bool sweep_once(PassContext &context) {
  bool any = false;
  int width = 1, in_a_row = 0;
  for (int end = nodes_in(context.current); end > 0; end = std::min(end, nodes_in(context.current))) {
    if (width > 1) {
      const Several several = edit_several(context.current, end, width);
      const bool accepted = several.edits > 1 && context.try_candidate(several.program);
      width = accepted ? 2 * width : width / 2;
      end = accepted ? several.next : end;
      in_a_row = 0;
      continue;
    }
    const auto candidates = single_edits(context.current, --end);
    if (candidates.empty())
      continue;
    const bool accepted = accept_first(context, candidates);
    any |= accepted;
    in_a_row = accepted ? in_a_row + 1 : 0;
    width = in_a_row < enough_in_a_row ? 1 : in_a_row;
  }
  return any;
}

/// Two nodes that undo each other (a transposition and another one) go together or not at all. In a large program the
/// search takes them; in a small one there are few such pairs.
bool splice_small_stretch(PassContext &context, const Splicer &splicer) {
  if (splicer.sites() >= worth_a_search)
    return false;
  std::vector<LazyProgram> candidates;
  for (const auto &stretch : splicer.stretches())
    candidates.push_back([&splicer, stretch] { return splicer.without_stretch(stretch); });
  return accept_first(context, candidates);
}

/// Tries to remove nodes that go together or not at all: those that write in place to what they make themselves,
/// blocks, and those that only lead back to a shape that was there before.
bool splice_regions(PassContext &context) {
  const auto recording = context.record();
  if (!recording)
    return false;
  const Splicer splicer(recording);
  const IndexSet regions = splicer.regions();
  const bool any = accept_in_bulk(context, regions.size(), [&](const std::vector<size_t> &which) {
    IndexSet gone;
    for (size_t i : which)
      gone.push_back(regions[i]);
    return splicer.without(gone);
  });
  return any || splice_small_stretch(context, splicer);
}

} // namespace

void splice_nodes(EngineContext &context) {
  splice_stretches(context);
  do {
    while (sweep_once(context)) {
    }
  } while (splice_regions(context));
}

} // namespace repro_minify
