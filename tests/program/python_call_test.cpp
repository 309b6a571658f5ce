#include "program/python_call.h"

#include "program/executor.h"
#include "program/module_edits.h"
#include "program/program_from.h"

#include <gtest/gtest.h>

#include <torch/csrc/jit/ir/constants.h>

#include <utility>

namespace repro_minify {
namespace {

using namespace testing_support;
using nlohmann::json;

Program program_of(const std::string &body, int inputs = 2) {
  register_python_calls();
  std::vector<at::Tensor> values(static_cast<size_t>(inputs), at::ones({2}));
  return program_from(body, values);
}

/// torch.add(x, y, alpha=3), as a call of Python.
Program addition() {
  return program_of(R"IR(
graph(%x : Tensor, %y : Tensor):)IR" +
                    call_constant("call", R"({"f":"torch.add","a":[{"%":0},{"%":1}],"k":{"alpha":{"%":2}}})") + R"IR(
  %alpha : int = prim::Constant[value=3]()
  %z : Tensor = fx::tensor(%call, %x, %y, %alpha)
  return (%z))IR");
}

/// A program of one call, which is given its input.
Program calling(const std::string &call) {
  return program_of("graph(%x : Tensor):" + call_constant("call", call) +
                        "\n  %z : Tensor = fx::tensor(%call, %x)\n  return (%z)",
                    1);
}

torch::jit::Node *call_in(const Program &program) {
  for (auto *node : program.graph->nodes())
    if (is_python_call(node))
      return node;
  return nullptr;
}

TEST(PythonCall, IsKnownByItsNamespace) {
  EXPECT_TRUE(calls_python(*addition().graph));
  const Program usual =
      program_from("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)", {at::ones(1)});
  EXPECT_FALSE(calls_python(*usual.graph));
}

TEST(PythonCall, HasTheNameOfWhatIsCalled) {
  EXPECT_EQ(operator_name(call_in(addition())), "torch.add");
  EXPECT_EQ(short_operator_name(call_in(addition())), "add");
  const Program method = calling(R"({"m":"half","a":[{"%":0}]})");
  EXPECT_EQ(operator_name(call_in(method)), ".half");
  EXPECT_EQ(short_operator_name(call_in(method)), "half");
  const std::pair<const char *, const char *> names[] = {
      {"torch.ops.aten.sum.dim_IntList", "sum"}, {"torch.ops.higher_order.cond", "cond"}, {"fx_vmap.vmapped", "vmap"}};
  for (const auto &[function, name] : names) {
    const Program program = calling(R"({"f":")" + std::string(function) + R"(","a":[{"%":0}]})");
    EXPECT_EQ(short_operator_name(call_in(program)), name);
  }
}

TEST(PythonCall, WithoutJsonHasTheNameOfItsKind) {
  const Program odd = program_of(R"IR(
graph(%x : Tensor):
  %call : str = prim::Constant[value="no JSON"]()
  %z : Tensor = fx::tensor(%call, %x)
  return (%z))IR",
                                 1);
  EXPECT_TRUE(python_call_of(call_in(odd)).is_null());
  EXPECT_EQ(operator_name(call_in(odd)), "fx::tensor");
}

TEST(PythonCall, NestedWithoutEndIsNone) {
  const std::string nested = std::string(100, '[') + std::string(100, ']');
  const Program odd = program_of(
      "graph(%x : Tensor):\n  %call : str = prim::Constant[value=\"{\\\"f\\\":\\\"torch.add\\\",\\\"a\\\":" + nested +
          "}\"]()\n  %z : Tensor = fx::tensor(%call, %x)\n  return (%z)",
      1);
  EXPECT_TRUE(python_call_of(call_in(odd)).is_null());
}

/// The operands that a call no longer names go, and the others are numbered anew.
TEST(PythonCall, TakesAnotherCall) {
  const Program program = addition();
  auto *node = call_in(program);
  const auto *second = node->input(2);
  set_python_call(node, json::parse(R"({"f":"torch.neg","a":[{"%":1}]})"));
  EXPECT_EQ(python_call_of(node), json::parse(R"({"f":"torch.neg","a":[{"%":0}]})"));
  ASSERT_EQ(node->inputs().size(), 2u);
  EXPECT_EQ(node->input(1), second);
}

/// torch.zeros(2, device=DEVICE) + x, as calls of Python, in a module.
torch::jit::Module with_device(const std::string &device) {
  const Program program = program_of(
      R"IR(
graph(%x : Tensor):)IR" +
          call_constant("call", R"({"f":"torch.zeros","a":[{"%":0}],"k":{"device":{"device":")" + device + R"("}}})") +
          R"IR(
  %size : int = prim::Constant[value=2]()
  %y : Tensor = fx::tensor(%call, %size)
  return (%y))IR",
      1);
  return instantiate(program, {}).module;
}

std::string device_in(const torch::jit::Module &module) {
  for (auto *node : module.get_method("forward").graph()->nodes())
    if (is_python_call(node))
      return python_call_of(node).at("k").at("device").at("device");
  return "no call";
}

TEST(PythonCall, NamesTheDeviceThatItRunsOn) {
  const auto moved = [](const std::string &written, const char *device) {
    torch::jit::Module module = with_device(written);
    redirect_device_constants(module, c10::Device(device));
    return device_in(module);
  };
  EXPECT_EQ(moved("cuda:0", "cpu"), "cpu");
  EXPECT_EQ(moved("cuda", "cuda:1"), "cuda:1");
  EXPECT_EQ(moved("cpu", "cuda"), "cuda");
  EXPECT_EQ(moved("cpu", "cpu"), "cpu");
  EXPECT_EQ(moved("meta", "cuda"), "meta");
  EXPECT_EQ(moved("cuda:many", "cpu"), "cuda:many");
}

} // namespace
} // namespace repro_minify
