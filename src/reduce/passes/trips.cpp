// Trips: fewer iterations of a loop, the loop kept. The least number that fails is sought from below: doubling, then
// halving the gap. It begins with two: that one is enough is first seen without the loop (see loops.cpp). A number of
// trips that is computed is left to the cut, which makes it a constant.
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir_views.h>

#include <algorithm>

namespace repro_minify {
namespace {

/// An integer constant of this value that can be read at the top of the graph, or a new one.
Value *constant_at_top(Graph &graph, int64_t value) {
  for (Node *node : graph.nodes())
    if (node->kind() == prim::Constant && node->output()->type()->kind() == c10::TypeKind::IntType &&
        torch::jit::toIValue(node->output()) == c10::IValue(value)) {
      if (node != *graph.nodes().begin())
        node->moveBefore(*graph.nodes().begin());
      return node->output();
    }
  torch::jit::WithInsertPoint guard(*graph.nodes().begin());
  return graph.insertConstant(value);
}

/// The loop with `trips` iterations, whatever it asked before it went on: TorchScript has no loop that is bounded in
/// both ways.
Program with_trips(const Program &program, const Node *loop, int64_t trips) {
  return edited(program, [&](EditableCopy &copy) {
    Graph &graph = *copy.program.graph;
    Node *node = copy.of(loop);
    Node *end = node->blocks()[0]->return_node();
    const std::vector<Value *> before{node->input(0), node->input(1), end->input(0)};
    node->replaceInput(0, constant_at_top(graph, trips));
    if (torch::jit::LoopView(node).loopType() != torch::jit::LoopView::For) {
      torch::jit::WithInsertPoint at_the_top(*graph.nodes().begin());
      Value *yes = graph.insertConstant(true);
      node->replaceInput(1, yes);
      end->replaceInput(0, yes);
    }
    drop_unread(before);
  });
}

/// Accepts the least number of trips below `trips` that fails, as far as a bisection can tell.
bool lower_trips(PassContext &context, const Program &start, const Node *loop, int64_t trips) {
  const auto fails = [&](int64_t fewer) { return context.try_candidate(with_trips(start, loop, fewer)); };
  int64_t passes = 0, least = trips;
  for (int64_t fewer = std::min<int64_t>(2, trips - 1); passes < fewer; fewer = std::min(fewer * 2, trips - 1)) {
    if (fails(fewer)) {
      least = fewer;
      break;
    }
    passes = fewer;
  }
  while (least < trips && least - passes > 1) {
    const int64_t middle = passes + (least - passes) / 2;
    (fails(middle) ? least : passes) = middle;
  }
  return least < trips;
}

} // namespace

void lower_trip_counts(PassContext &context) {
  const auto is_loop = [](const Node *node) {
    return node->kind() == prim::Loop && node->input(0)->node()->kind() == prim::Constant;
  };
  if (!any_node(context.current.graph->block(), is_loop))
    return;
  const Program start = context.current;
  const auto recording = context.record();
  if (!recording)
    return;
  const auto nodes = all_nodes(*start.graph);
  const auto path = path_of(*recording);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (is_loop(nodes[i]) && !path[i].empty() &&
        lower_trips(context, start, nodes[i], *std::max_element(path[i].begin(), path[i].end())))
      return; // what stands where has changed: the next turn sees to the others
}

} // namespace repro_minify
