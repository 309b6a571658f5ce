// Loops: a prim::Loop becomes its first iteration, or another one: where all of them written out still fail, the
// failing one is bisected, and what the others made is an input.
#include "program/cut.h"
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

/// A loop that is written out must stay something that a check can run.
constexpr size_t most_nodes_written_out = 20000;

struct Unrolled {
  Program program;
  std::vector<std::set<const Node *>> iterations; ///< the nodes of each, not those nested in them
};

/// The loop as `trips` copies of its body.
Unrolled unrolled(const Program &program, const Node *loop, int64_t trips) {
  EditableCopy copy(program);
  Node *node = copy.of(loop);
  std::vector<std::set<const Node *>> iterations;
  std::vector<Value *> unread{node->input(0), node->input(1)};
  std::vector<Value *> carried(node->inputs().begin() + 2, node->inputs().end());
  for (int64_t trip = 0; trip < trips; ++trip) {
    torch::jit::WithInsertPoint guard(node);
    std::vector<Value *> arguments{copy.program.graph->insertConstant(trip)};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    Node *last = node->prev();
    carried = paste_block(node->blocks()[0], node, arguments);
    unread.push_back(carried.front()); // whether to go on, of which the next iteration may read the makers
    carried.erase(carried.begin());
    iterations.emplace_back();
    for (const Node *pasted = last->next(); pasted != node; pasted = pasted->next())
      iterations.back().insert(pasted);
  }
  replace_node(node, carried);
  drop_unread(unread);
  drop_unused(copy.program);
  return {std::move(copy.program), std::move(iterations)};
}

size_t nodes_in(const Node *node) {
  size_t count = 0;
  for (const auto *block : node->blocks())
    for (const Node *inner : block->nodes())
      count += 1 + nodes_in(inner);
  return count;
}

/// Looks for one iteration that is enough, the others' part in it recorded.
class IterationSearch {
public:
  IterationSearch(EngineContext &context, const Unrolled &written_out)
      : context_(context), cutter_(context.services.record(written_out.program)) {
    for (int atom = 0; atom < cutter_.atoms(); ++atom) {
      const auto &all = written_out.iterations;
      const Node *top_level = outermost(cutter_.node_of(atom));
      const auto home =
          std::find_if(all.begin(), all.end(), [&](const auto &nodes) { return nodes.count(top_level) > 0; });
      iteration_.push_back(home == all.end() ? outside : home - all.begin());
    }
  }

  /// Halves for as long as one of them fails alone.
  bool narrow(std::ptrdiff_t begin, std::ptrdiff_t end) {
    bool any = false;
    while (end - begin > 1) {
      const std::ptrdiff_t middle = begin + (end - begin) / 2;
      if (context_.fails(with(begin, middle), {}))
        end = middle;
      else if (context_.fails(with(middle, end), {}))
        begin = middle;
      else
        break;
      any = true;
    }
    return any;
  }

private:
  static constexpr std::ptrdiff_t outside = -1;

  Program with(std::ptrdiff_t begin, std::ptrdiff_t end) const {
    IndexSet kept;
    for (int atom = 0; atom < cutter_.atoms(); ++atom)
      if (iteration_[atom] == outside || (iteration_[atom] >= begin && iteration_[atom] < end))
        kept.push_back(atom);
    return cutter_.cut(kept);
  }

  EngineContext &context_;
  Cutter cutter_;
  std::vector<std::ptrdiff_t> iteration_; ///< by atom
};

bool is_loop(const Node *node) {
  return node->kind() == prim::Loop;
}

/// The first iteration; of a loop that was never entered none.
bool keep_first_iteration(PassContext &context, const Node *loop, int64_t trips) {
  return context.try_candidate(unrolled(context.current, loop, std::min<int64_t>(1, trips)).program);
}

/// The only block of a program was kept because writing it out hides the failure; it is not asked again.
bool keep_one_iteration(EngineContext &context, const Node *loop, int64_t trips) {
  const auto nodes = all_nodes(*context.current.graph);
  const bool nested = loop->owningBlock() != context.current.graph->block();
  const auto has_blocks = [](const Node *node) { return !node->blocks().empty(); };
  if (nested || trips < 2 || std::count_if(nodes.begin(), nodes.end(), has_blocks) < 2)
    return false;
  if (static_cast<size_t>(trips) * nodes_in(loop) > most_nodes_written_out) {
    context.incomplete("did not write out a loop that would be more than " + std::to_string(most_nodes_written_out) +
                       " nodes long");
    return false;
  }
  const Order before = order_of(context.current);
  const Unrolled written_out = unrolled(context.current, loop, trips);
  if (context.fails(written_out.program, {}))
    IterationSearch(context, written_out).narrow(0, trips);
  return order_of(context.current) < before;
}

bool without_one_loop(EngineContext &context) {
  const auto recording = context.record();
  if (!recording)
    return false;
  const auto path = path_of(*recording);
  const auto nodes = all_nodes(*context.current.graph);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!is_loop(nodes[i]) || path[i].empty())
      continue;
    const int64_t most = *std::max_element(path[i].begin(), path[i].end());
    if (keep_first_iteration(context, nodes[i], most) || keep_one_iteration(context, nodes[i], most))
      return true;
  }
  return false;
}

} // namespace

void straighten_loops(EngineContext &context) {
  while (any_node(context.current.graph->block(), is_loop) && without_one_loop(context)) {
  }
}

} // namespace repro_minify
