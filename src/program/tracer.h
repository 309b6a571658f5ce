// The log of a traced run, as numbers that a child can send: nodes are named by their addresses, which a forked child
// shares with its parent as long as the graphs were there before.
#pragma once
#include "program/graph.h"
#include "repro_minify/load.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"
#include "repro_minify/sandbox.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/function_impl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace repro_minify {

struct TraceLog {
  /// One step. Each defines one or more numbered values; the arguments of the method are the first.
  struct Step {
    enum Kind : int64_t {
      Operator,  ///< `node` was run on `operands`: defines its outputs
      Constant,  ///< constants[index], of the type of `value` if there is one
      Attribute, ///< of the model, by its path: constants[index]
      Tuple,     ///< of `operands`
      List,      ///< of `operands`, with elements as `value` has them
    };
    Kind kind = Operator;
    Node *node = nullptr;
    const Value *value = nullptr;
    int64_t index = 0;
    std::vector<int64_t> operands;
  };
  std::vector<Step> steps;
  std::vector<c10::IValue> constants;
  std::vector<int64_t> outputs; ///< numbers of values

  c10::IValue packed() const;
  static TraceLog unpacked(const c10::IValue &packed);
};

// The half of a traced run that computes: it belongs in a sandbox child.

/// Runs a method node by node and notes what a flat program would have to do to get the same. The model's own objects
/// are written to.
class Tracer {
public:
  /// `device`: where the arguments and the model's attributes are.
  Tracer(size_t most_steps, c10::Device device) : most_steps_(most_steps), device_(device) {}

  TraceLog run(torch::jit::Function &method, const c10::IValue &self, const std::vector<c10::IValue> &arguments);

private:
  /// A value, and its number in the log where it has one.
  struct Tracked {
    c10::IValue value;
    std::optional<int64_t> number;
  };
  using Frame = std::unordered_map<const Value *, Tracked>;
  using Values = std::vector<Tracked>;

  Values call(Graph &graph, Values arguments);
  Values call_method(const c10::IValue &object, const std::string &name, Values arguments);
  void execute(Frame &frame, const Block *block);
  void execute(Frame &frame, Node *node);
  bool execute_call(Frame &frame, Node *node);
  bool execute_access(Frame &frame, Node *node);
  void execute_if(Frame &frame, Node *node);
  void execute_loop(Frame &frame, Node *node);
  void execute_operator(Frame &frame, Node *node);
  static Values operands(const Frame &frame, const Node *node);
  static void define(Frame &frame, const Node *node, const Values &results);

  Tracked read_attribute(const c10::IValue &object, const std::string &name);
  int64_t number_of(const Tracked &tracked, const Value *as);
  int64_t number_of_container(const c10::IValue &value, const Value *as);
  int64_t number_of_constant(const c10::IValue &value, const Value *as);
  int64_t add(TraceLog::Step step);
  void know(const c10::IValue &value, int64_t number);

  const size_t most_steps_;
  const c10::Device device_;
  TraceLog log_;
  int64_t count_ = 0;
  std::unordered_map<const void *, int64_t> known_;     ///< tensors, lists, opaque objects, by address
  std::vector<c10::IValue> kept_alive_;                 ///< so that no address is used twice
  std::unordered_map<const void *, std::string> paths_; ///< of the model's objects
  /// The values that were assigned to attributes, by object and name.
  std::map<std::pair<const void *, std::string>, Tracked> assigned_;
};

// The straight line of operators that one eager run of a model goes through, whatever the model is written with:
// objects, lists of them, tasks, recursion.

/// flatten_calls(); where that cannot, by one eager run in a sandbox child: then true comes with it. Throws
/// CannotFlatten where neither can.
std::pair<Program, bool> flatten_or_trace(const LoadedModel &model, const std::vector<c10::IValue> &arguments,
                                          const RunSettings &settings, const Limits &limits);

} // namespace repro_minify
