// Questions about a graph, and edits of it, that are needed in more than one place.
#pragma once

#include "program/graph.h"
#include "repro_minify/record.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace repro_minify {

// Questions about all nodes of a graph, those in blocks included.

/// True if `is` is true of any node of the block.
bool any_node(const Block *block, const std::function<bool(const Node *)> &is);

/// Returns the node at the top level of its graph that this one is or is inside of.
const Node *outermost(const Node *node);

/// True if the operator writes to an operand, by its schema.
bool writes(const Node *node);

/// True if any node writes to an operand.
bool writes_to_something(const Graph &graph);

/// True if any node may give another value the next time.
bool draws_random_numbers(const Graph &graph);

// Questions about the inputs of a Program.

bool has_role(const Program &program, Role role);

/// True if an input is no argument of forward, but a part of the module.
bool has_attributes(const Program &program);

// Edits of a graph that are made in more than one place.

/// Copies the nodes of `block` to in front of `before`, with `arguments` for the block's inputs. Returns what stands
/// for its outputs.
std::vector<Value *> paste_block(const Block *block, Node *before, const std::vector<Value *> &arguments);

/// Removes a node whose outputs are read as `values` instead.
void replace_node(Node *node, const std::vector<Value *> &values);

/// Removes the nodes that made these values if nothing reads them any more, and those that only they had read; none
/// that has effects.
void drop_unread(const std::vector<Value *> &values);

/// Erases the inputs (by position) that are marked, which nothing may read. In one go: erased one at a time, each moves
/// all behind it, which for a model with thousands of parameters takes longer than to run it.
void erase_inputs(Graph &graph, const std::vector<char> &gone);

/// True if the operator writes to an operand, does anything beside giving a value, or may give another one next time.
bool has_effects(const Node *node);

/// True if any reader writes to `value`, by its schema, or to a list or dictionary that it took out of it.
bool is_written_to(const Value *value);

// The way that a recorded run took through control flow, node by node.

/// Returns for each node index (Recording::nodes): for a prim::If which block was taken (0 or 1), for a prim::Loop how
/// many trips it made, once for each time that it was executed, in that order. Empty for every other node.
std::vector<std::vector<int64_t>> path_of(const Recording &recording);

/// The block of a prim::If that was taken whenever it was executed; nullptr when that differs, or when it never was.
Block *only_block_taken(const Node *node, const std::vector<int64_t> &decisions);

// One node of a graph, run as the interpreter runs it.

/// `stack` holds the operands, one for each input, and then the results. Not for prim::If and prim::Loop, whose blocks
/// read more than their operands.
void run_node(Node *node, std::vector<c10::IValue> &stack);

} // namespace repro_minify
