#include "program/executor.h"

#include "program/python_call.h"
#include "repro_minify/program.h"

#include <torch/csrc/jit/runtime/custom_operator.h>

#include <utility>

namespace repro_minify {
namespace {

std::shared_ptr<PythonExecutor> &executor() {
  static std::shared_ptr<PythonExecutor> known;
  return known;
}

PythonExecutor &required_executor() {
  if (!executor())
    throw UserError(
        "this program is one of torch.fx: its calls run in Python, under --backend inductor, torch-compile:NAME or "
        "export:NAME alone");
  return *executor();
}

/// An operator of a variable number of operands: their number is on top of the stack.
void call_python(torch::jit::Stack &stack, bool gives_nothing) {
  const auto count = static_cast<size_t>(torch::jit::pop(stack).toInt());
  std::vector<c10::IValue> operands = torch::jit::pop(stack, count);
  const std::string call = operands.front().toStringRef();
  operands.erase(operands.begin());
  c10::IValue result = required_executor().call(call, operands);
  if (!gives_nothing)
    torch::jit::push(stack, std::move(result));
}

torch::jit::Operator operator_of_kind(const std::string &kind, const std::string &gives) {
  const bool writes = kind.back() == '_', nothing = gives == "()";
  return {"fx::" + kind + "(str call, ...) -> " + gives,
          [nothing](torch::jit::Stack &stack) { call_python(stack, nothing); },
          writes ? c10::AliasAnalysisKind::CONSERVATIVE : c10::AliasAnalysisKind::PURE_FUNCTION};
}

} // namespace

void set_python_executor(std::shared_ptr<PythonExecutor> given) {
  executor() = std::move(given);
}

Confinement confinement_of_running() {
  return executor() ? executor()->confinement() : Confinement{};
}

bool python_is_as_before() {
  return !executor() || executor()->is_as_before();
}

Forward eager_forward(const torch::jit::Module &module, bool double_precision) {
  if (calls_python(*module.get_method("forward").graph()))
    return required_executor().eager(module, double_precision);
  return [module = torch::jit::Module(module)](std::vector<c10::IValue> arguments) mutable {
    return module.forward(std::move(arguments));
  };
}

void register_python_calls() {
  [[maybe_unused]] static const bool once = [] {
    std::vector<torch::jit::Operator> operators;
    const std::pair<const char *, const char *> kinds[] = {
        {"tensor", "Tensor"}, {"tensors", "Tensor[]"}, {"int", "int"}, {"float", "float"}, {"bool", "bool"}};
    for (const auto &[kind, gives] : kinds)
      for (const char *suffix : {"", "_"})
        operators.push_back(operator_of_kind(std::string(kind) + suffix, gives));
    operators.push_back(operator_of_kind("effect_", "()"));
    for (auto &each : operators)
      torch::jit::registerOperator(std::move(each));
    return true;
  }();
}

} // namespace repro_minify
