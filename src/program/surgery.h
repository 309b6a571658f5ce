// Edits of a graph that are made in more than one place.
#pragma once
#include <torch/csrc/jit/ir/ir.h>

#include <vector>

namespace repro_minify {

/// Copies the nodes of `block` to in front of `before`, with `arguments` for the block's inputs. Returns what stands
/// for its outputs.
std::vector<torch::jit::Value *> paste_block(const torch::jit::Block *block, torch::jit::Node *before,
                                             const std::vector<torch::jit::Value *> &arguments);

/// Removes a node whose outputs are read as `values` instead.
void replace_node(torch::jit::Node *node, const std::vector<torch::jit::Value *> &values);

/// Removes the nodes that made these values if nothing reads them any more, and those that only they had read; none
/// that has effects.
void drop_unread(const std::vector<torch::jit::Value *> &values);

/// Erases the inputs (by position) that are marked, which nothing may read. In one go: erased one at a time, each moves
/// all behind it, which for a model with thousands of parameters takes longer than to run it.
void erase_inputs(torch::jit::Graph &graph, const std::vector<char> &gone);

/// True if the operator writes to an operand, does anything beside giving a value, or may give another one next time.
bool has_effects(const torch::jit::Node *node);

/// True if any reader writes to `value`, by its schema.
bool is_written_to(const torch::jit::Value *value);

} // namespace repro_minify
