// Programs with hundreds of parameters: the same module, in parts.
#include "program/materialise.h"

#include "program/surgery.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

/// x + p0 * 1 + p1 * 1 + ...: every sixth input is a buffer, one a constant, one an argument.
Program sum_of(int inputs) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  std::string text = "graph(%x : Tensor", body = "  %one : int = prim::Constant[value=1]()\n";
  for (int i = 0; i < inputs; ++i) {
    text += ", %p" + std::to_string(i) + " : Tensor";
    body += "  %s" + std::to_string(i) + " : Tensor = aten::add(%" + (i ? "s" + std::to_string(i - 1) : "x") + ", %p" +
            std::to_string(i) + ", %one)\n";
  }
  torch::jit::parseIR(text + "):\n" + body + "  return (%s" + std::to_string(inputs - 1) + ")\n", program.graph.get());
  program.inputs.push_back({"x", Role::Input, at::zeros({2}), {}});
  for (int i = 0; i < inputs; ++i) {
    const Role role = i == 7 ? Role::Constant : i == 11 ? Role::Input : i % 6 == 0 ? Role::Buffer : Role::Parameter;
    program.inputs.push_back({"p" + std::to_string(i), role, at::full({2}, i, at::kFloat), {}});
  }
  return program;
}

std::vector<std::string> last_names(const torch::jit::Module &module) {
  std::vector<std::string> names;
  for (const auto &parameter : module.named_parameters())
    names.push_back(parameter.name.substr(parameter.name.rfind('.') + 1));
  for (const auto &buffer : module.named_buffers())
    names.push_back(buffer.name.substr(buffer.name.rfind('.') + 1));
  return names;
}

size_t most_attributes(const torch::jit::Module &module) {
  size_t most = 0;
  for (const auto &each : module.modules())
    most = std::max(most, each._ivalue()->type()->numAttributes());
  return most;
}

TEST(Parts, HoldTheSameParametersInTheSameOrder) {
  const Program program = sum_of(1000);
  const Instance whole = instantiate(program), parts = instantiate_in_parts(program);
  EXPECT_EQ(last_names(parts.module), last_names(whole.module));
  EXPECT_LE(most_attributes(parts.module), 65u); // and "training"
  EXPECT_GT(most_attributes(whole.module), 900u);
}

TEST(Parts, ComputeTheSame) {
  const Program program = sum_of(600);
  Instance whole = instantiate(program), parts = instantiate_in_parts(program);
  ASSERT_EQ(whole.arguments.size(), 2u);
  const auto expected = whole.module.forward(whole.arguments).toTensor();
  EXPECT_TRUE(at::equal(parts.module.forward(parts.arguments).toTensor(), expected));
  EXPECT_TRUE(at::equal(expected, at::full({2}, 600 * 599 / 2, at::kFloat)));
}

TEST(Parts, AreNotMadeOfFewParameters) {
  EXPECT_EQ(instantiate_in_parts(sum_of(200)).module.children().size(), 0u);
}

TEST(EraseInputs, KeepsTheOthersInOrder) {
  torch::jit::Graph graph;
  for (int i = 0; i < 6; ++i)
    graph.addInput("v" + std::to_string(i));
  erase_inputs(graph, {1, 0, 0, 1, 1, 0});
  std::vector<std::string> names;
  for (const auto *input : graph.inputs())
    names.push_back(input->debugName());
  EXPECT_EQ(names, (std::vector<std::string>{"v1", "v2", "v5"}));
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    EXPECT_EQ(graph.inputs()[i]->offset(), i);
}

} // namespace
} // namespace repro_minify
