// --grad under backends that make constants of the parameters: what both sides have is compared, and what was left out
// is said.
#include "program/fixture.h"
#include "repro_minify/check.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace repro_minify {
namespace {

ModuleFactory linear(bool input_requires_grad) {
  return [=](const InstantiateOptions &options) {
    const auto type = options.double_precision ? at::kDouble : at::kFloat;
    torch::jit::Module module("__torch__.Linear");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_parameter("weight", at::ones({3, 3}, type).set_requires_grad(options.requires_grad), false);
    module.register_parameter("bias", at::ones({3}, type).set_requires_grad(options.requires_grad), false);
    module.define("def forward(self, x: Tensor):\n  return torch.relu(torch.linear(x, self.weight, self.bias))\n");
    at::Tensor x = at::ones({2, 3}, type);
    x.set_requires_grad(options.requires_grad && input_requires_grad);
    return Instance{module, {x}};
  };
}

Verdict checked(const std::string &backend, bool input_requires_grad) {
  CheckOptions options;
  options.grad = true;
  return check(linear(input_requires_grad), make_backend(backend), options, testing_support::test_limits());
}

TEST(Gradients, OfParametersAreLeftOutUnderFreeze) {
  const Verdict verdict = checked("freeze", true);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  ASSERT_EQ(verdict.gradients.size(), 1u);
  EXPECT_EQ(verdict.gradients[0].path, "input 0");
  EXPECT_EQ(verdict.left_out, "the gradients of 2 parameters, which are constants under freeze");
  EXPECT_FALSE(verdict.no_gradient_left);
  EXPECT_EQ(verdict_from_json(to_json(verdict)).left_out, verdict.left_out);
}

TEST(Gradients, AreNoneUnderFreezeWhereNoInputHasOne) {
  const Verdict verdict = checked("freeze", false);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_TRUE(verdict.no_gradient_left);
}

TEST(Gradients, OfWhatIsForInferenceAreNoFailure) {
  for (const char *backend : {"static-runtime", "optimize-for-inference"}) {
    const Verdict verdict = checked(backend, true);
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << backend << ": " << verdict.message;
    EXPECT_FALSE(verdict.left_out.empty()) << backend;
    EXPECT_EQ(verdict.no_gradient_left, verdict.gradients.empty()) << backend;
  }
}

TEST(Gradients, AreAllComparedUnderBackendsThatKeepParameters) {
  const Verdict verdict = checked("jit", false);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_EQ(verdict.gradients.size(), 2u);
  EXPECT_TRUE(verdict.left_out.empty());
}

} // namespace
} // namespace repro_minify
