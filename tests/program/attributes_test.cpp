// Tests that assignments of a model to its attributes become values, through any control flow.
#include "all_tests.h"
#include "program/fixture.h"
#include "program/flat_graph.h"

#include "repro_minify/program.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace repro_minify {
namespace {

/// Statements that read and assign the attributes `a`, `b` and `sub.c`, nested in branches and loops.
class RandomMethod {
public:
  explicit RandomMethod(unsigned seed) : random_(seed) {}

  std::string text() {
    std::string text = "def forward(self, x: Tensor) -> Tensor:\n";
    block(text, "  ", 3);
    return text + "  return x * self.a + self.b * self.sub.c\n";
  }

private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string attribute() { return std::vector<std::string>{"self.a", "self.b", "self.sub.c"}[below(3)]; }

  void block(std::string &text, const std::string &indent, int depth) {
    for (int statements = 1 + below(4); statements > 0; --statements)
      statement(text, indent, depth);
  }
  void statement(std::string &text, const std::string &indent, int depth) {
    const int kind = below(depth > 0 ? 6 : 3);
    if (kind == 0) {
      text += indent + "x = x + " + attribute() + "\n";
    } else if (kind <= 2) {
      text += indent + attribute() + " = " + attribute() + " * 0.5 + " + std::to_string(below(9)) + "\n";
    } else if (kind == 3) {
      text += indent + "for i in range(" + std::to_string(below(3)) + "):\n";
      block(text, indent + "  ", depth - 1);
    } else {
      text += indent + "if bool(torch.sum(x) > " + std::to_string(below(20)) + "):\n";
      block(text, indent + "  ", depth - 1);
      if (kind == 5) {
        text += indent + "else:\n";
        block(text, indent + "  ", depth - 1);
      }
    }
  }

  std::mt19937 random_;
};

torch::jit::Module module_with(const std::string &method) {
  torch::jit::Module sub("__torch__.Sub"), module("__torch__.Assigns");
  sub.register_attribute("c", c10::TensorType::get(), at::tensor(3.0));
  module.register_module("sub", sub);
  module.register_attribute("a", c10::TensorType::get(), at::tensor(1.0));
  module.register_buffer("b", at::full({2}, 2.0));
  module.define(method);
  return module;
}

at::Tensor run(const Program &program) {
  program.graph->lint();
  Instance instance = instantiate(program);
  const c10::IValue output = instance.module.forward(instance.arguments);
  return output.isTensor() ? output.toTensor() : output.toTupleRef().elements()[0].toTensor();
}

TEST(Attributes, AreWhatTheModelMakesOfThem) {
  int with_control_flow = 0;
  const int seeds = how_many(100, 400);
  for (int seed = 0; seed < seeds; ++seed) {
    const std::string method = RandomMethod(static_cast<unsigned>(seed)).text();
    torch::jit::Module module = module_with(method);
    const std::vector<c10::IValue> arguments = {at::tensor({0.5, -1.5})};
    const Program program = flatten_calls({"", module, "forward"}, arguments);
    with_control_flow += has_control_flow(program);
    const at::Tensor expected = module.forward(arguments).toTensor(); // writes its attributes
    EXPECT_TRUE(at::equal(run(program), expected)) << method << *program.graph;
  }
  EXPECT_GT(with_control_flow, seeds / 2);
}

TEST(Attributes, AreFilledWhenTheyAreEmpty) {
  torch::jit::Module module("__torch__.Cached");
  module.register_attribute("cache", c10::OptionalType::ofTensor(), c10::IValue());
  module.define(R"(
def forward(self, x: Tensor) -> Tensor:
  if self.cache is None:
    self.cache = x * 2
  y = self.cache
  assert y is not None
  return y + x
)");
  const Program program = flatten_calls({"", module, "forward"}, {at::ones({2})});
  EXPECT_TRUE(at::equal(run(program), at::full({2}, 3.0))) << *program.graph;
}

} // namespace
} // namespace repro_minify
