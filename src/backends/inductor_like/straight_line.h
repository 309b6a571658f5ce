// A graph without control flow, and what is known of its values: it is run node by node.
#pragma once
#include "program/graph.h"

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <unordered_map>
#include <vector>

namespace repro_minify::inductor_like {

using GraphPtr = std::shared_ptr<Graph>;
using Values = std::unordered_map<const Value *, c10::IValue>;

/// Tensors in, tensors out. `inputs` are values for the graph's inputs: the arguments of forward, then the module's
/// parameters, buffers and constants.
struct StraightLine {
  GraphPtr graph;
  std::vector<c10::IValue> inputs;
  size_t arguments = 0;        ///< how many of the inputs are arguments of forward
  std::vector<bool> constants; ///< for each input: its value never changes
};

/// The properties of a tensor in the run that was observed.
struct ObservedTensor {
  at::ScalarType dtype = at::kFloat;
  c10::Device device = c10::kCPU;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  const void *storage = nullptr;
  int64_t storage_elements = 0;
  bool plain = false; ///< strided, on the CPU or CUDA, neither complex nor quantised: kernels can read and write it
};

/// True for a tensor whose elements fill its memory in another order than row by row.
bool is_dense_in_another_order(const ObservedTensor &tensor);

/// Every value of one run. The tensors are kept alive, so that storages stay apart.
struct Observation {
  Values values;
  std::unordered_map<const Value *, ObservedTensor> tensors;

  const ObservedTensor *tensor(const Value *value) const;
  /// Returns a value of the run. One that is not a tensor does not depend on data: it is the same in each run.
  const c10::IValue &constant(const Value *value) const { return values.at(value); }
};

/// Runs a node on the values on the stack, where it leaves its outputs.
void execute(Node *node, std::vector<c10::IValue> &stack);
/// Runs one node of a straight line: takes its inputs from `values`, leaves its outputs there.
void run_node(Node *node, Values &values);

/// Inputs of a run that has to leave them as they are: copies, but for large ones that were not written to
/// (program/shared_pages.h). Those are lent as they are, as a copy counts as memory of this process.
class RunInputs {
public:
  explicit RunInputs(const std::vector<c10::IValue> &inputs, bool lends);
  ~RunInputs() { take_back(); }
  RunInputs(const RunInputs &) = delete;
  RunInputs &operator=(const RunInputs &) = delete;

  const std::vector<c10::IValue> &values() const { return values_; }
  /// True if the run has written to what it was lent; that then is as it was before, and the run has to be made again
  /// with copies.
  bool take_back();

private:
  std::vector<c10::IValue> values_;
  std::vector<at::Tensor> lent_;
};

/// Runs the line; its inputs stay as they are.
Observation observe(const StraightLine &line);

/// The value of a constant input of a node, None for one that is not constant.
c10::IValue constant_of(const Value *value);

} // namespace repro_minify::inductor_like
