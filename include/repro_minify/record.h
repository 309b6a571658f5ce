// One eager run that remembers the value of every intermediate, as it was when each of its readers saw it.
//
// In-place operators make "the value of x" depend on when one looks. So a recorded value has a key (value, writer): the
// contents after the top-level node `writer` wrote to its storage, or as produced when writer is none. Who wrote what
// is seen in the run itself, by the tensors' version counters, not taken from alias annotations: some failures are
// wrong annotations.
#pragma once
#include "repro_minify/flatten.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"
#include "repro_minify/sandbox.h"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace repro_minify {

/// Stands for no writer: contents as they were produced.
inline constexpr int no_writer = -1;

struct Recording {
  Program program;
  Decisions decisions;
  /// Nodes in depth-first order (a block node before the nodes in it), values likewise; both index the tables below.
  std::vector<torch::jit::Node *> nodes;
  std::unordered_map<const torch::jit::Node *, int> node_index;
  std::unordered_map<const torch::jit::Value *, int> value_index;
  /// (value, writer) -> what a reader saw. Absent: never executed, or of a type that cannot be cut.
  std::map<std::pair<int, int>, c10::IValue> seen;
  /// The contents of a value inside of a block when it was made the last time, where they are not those of the first
  /// time (which are in `seen`) and nothing writes to it.
  std::map<int, c10::IValue> last;
  /// value -> top-level nodes that wrote to its storage after it was made, ascending.
  std::vector<std::vector<int>> writers;

  /// The last writer of `value` before node `reader` (a top-level node index, or nodes.size() for the outputs).
  int writer_before(const torch::jit::Value *value, int reader) const;
  const c10::IValue *lookup(const torch::jit::Value *value, int writer) const;
};

/// Runs the Program eagerly in a sandbox child. Throws std::runtime_error with what went wrong in it.
Recording record(const Program &program, const RunSettings &settings, const Limits &limits);

/// Returns the recording with values inside of blocks as they were the last time.
Recording as_it_ended(const Recording &recording);

/// The nodes of a graph in depth-first order.
std::vector<torch::jit::Node *> all_nodes(torch::jit::Graph &graph);
std::vector<const torch::jit::Node *> all_nodes(const torch::jit::Graph &graph);

} // namespace repro_minify
