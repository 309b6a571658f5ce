// The half of a traced run that computes: it belongs in a sandbox child.
#pragma once
#include "program/trace_log.h"

#include <torch/csrc/jit/api/function_impl.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace repro_minify {

/// Runs a method node by node and notes what a flat program would have to do to get the same. The model's own objects
/// are written to.
class Tracer {
public:
  explicit Tracer(size_t most_steps) : most_steps_(most_steps) {}

  TraceLog run(torch::jit::Function &method, const c10::IValue &self, const std::vector<c10::IValue> &arguments);

private:
  /// A value, and its number in the log where it has one.
  struct Tracked {
    c10::IValue value;
    std::optional<int64_t> number;
  };
  using Frame = std::unordered_map<const torch::jit::Value *, Tracked>;
  using Values = std::vector<Tracked>;

  Values call(torch::jit::Graph &graph, Values arguments);
  Values call_method(const c10::IValue &object, const std::string &name, Values arguments);
  void execute(Frame &frame, const torch::jit::Block *block);
  void execute(Frame &frame, torch::jit::Node *node);
  bool execute_call(Frame &frame, torch::jit::Node *node);
  bool execute_access(Frame &frame, torch::jit::Node *node);
  void execute_if(Frame &frame, torch::jit::Node *node);
  void execute_loop(Frame &frame, torch::jit::Node *node);
  void execute_operator(Frame &frame, torch::jit::Node *node);
  static Values operands(const Frame &frame, const torch::jit::Node *node);
  static void define(Frame &frame, const torch::jit::Node *node, const Values &results);

  Tracked read_attribute(const c10::IValue &object, const std::string &name);
  int64_t number_of(const Tracked &tracked, const torch::jit::Value *as);
  int64_t number_of_container(const c10::IValue &value, const torch::jit::Value *as);
  int64_t number_of_constant(const c10::IValue &value, const torch::jit::Value *as);
  int64_t add(TraceStep step);
  void know(const c10::IValue &value, int64_t number);

  size_t most_steps_;
  TraceLog log_;
  int64_t count_ = 0;
  std::unordered_map<const void *, int64_t> known_;     ///< tensors, lists, opaque objects, by address
  std::vector<c10::IValue> kept_alive_;                 ///< so that no address is used twice
  std::unordered_map<const void *, std::string> paths_; ///< of the model's objects
  /// The values that were assigned to attributes, by object and name.
  std::map<std::pair<const void *, std::string>, Tracked> assigned_;
};

} // namespace repro_minify
