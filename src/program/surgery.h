// Edits of a graph that more than one reduction pass makes.
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

/// Removes what made these values if nobody reads it any more, and what only that had read; nothing that has effects.
void drop_unread(const std::vector<torch::jit::Value *> &values);

/// Whether the operator writes to an operand, does anything beside giving a value, or may give another one next time.
bool has_effects(const torch::jit::Node *node);

/// Whether any reader writes to `value`, by its schema.
bool is_written_to(const torch::jit::Value *value);

} // namespace repro_minify
