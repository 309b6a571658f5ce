#include "program/method_as_forward.h"

#include <torch/csrc/jit/ir/ir.h>

namespace repro_minify {

torch::jit::Module with_method_as_forward(const torch::jit::Module &model, const std::string &method) {
  if (method == "forward")
    return model;
  const auto units = model._ivalue()->compilation_unit();
  torch::jit::Module around(c10::QualifiedName("__torch__.Repro"), units, /*shouldMangle=*/true);
  around.register_attribute("training", c10::BoolType::get(), false);
  around.register_module("model", model);
  const auto type = around._ivalue()->type();

  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::Value *self = graph->addInput("self");
  self->setType(type);
  std::vector<torch::jit::Value *> operands = {graph->insertGetAttr(self, "model")};
  const auto &schema = model.get_method(method).function().getSchema();
  for (size_t i = 1; i < schema.arguments().size(); ++i) {
    const auto &argument = schema.arguments()[i];
    operands.push_back(graph->addInput(argument.name()));
    operands.back()->setType(argument.type());
  }
  torch::jit::Node *call = graph->insertNode(graph->create(torch::jit::prim::CallMethod, operands));
  call->s_(torch::jit::attr::name, method);
  call->output()->setType(schema.returns().at(0).type());
  graph->registerOutput(call->output());
  type->addMethod(units->create_function(c10::QualifiedName(*type->name(), "forward"), graph));
  return around;
}

} // namespace repro_minify
