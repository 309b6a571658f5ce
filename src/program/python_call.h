// Calls of torch.fx in a graph: a node `fx::tensor(str call, ...)` has the call as JSON in its first input, and its
// operands in the others. src/backends/inductor/fx_call.py has the grammar: "f" or "m" is the function or method, "a"
// and "k" are its arguments, {"%": N} is operand N.
#pragma once
#include "core/json.h"
#include "program/graph.h"

#include <string>

namespace repro_minify {

/// True if the node is a call of torch.fx.
bool is_python_call(const Node *node);
/// True if any node of the graph, nested blocks included, is a call of torch.fx.
bool calls_python(const Graph &graph);

/// Returns the call of such a node, with all of its operands among the node's; null where its text is no such call,
/// which only a hand-made archive has.
json python_call_of(const Node *node);
/// Gives the node another call, of which each {"%": N} is an operand of the present one; those that are named no longer
/// are no operands any more.
void set_python_call(Node *node, const json &call);

/// Returns the number of calls in the graphs that a call is given: those of a higher-order operator.
int calls_in_graphs_of(const Node *node);

/// Returns the name of what a node calls: "aten::add", "torch.nn.functional.pad"; a method with a dot in front,
/// ".half".
std::string operator_name(const Node *node);
/// Returns its last word as users know it: "add", "pad", "half", "vmap".
std::string short_operator_name(const Node *node);

} // namespace repro_minify
