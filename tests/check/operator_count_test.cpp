// Which operators a backend rewrote, told from what each side called.
#include "check/operators.h"
#include "check/run_program.h"

#include "backends/backend_registry.h"
#include "program/fixture.h"
#include "program/flat_graph.h"
#include "repro_minify/check.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using Names = std::vector<std::string>;

TEST(OperatorCounter, CountsWhatIsCalledAndNotWhatThatCalls) {
  const at::Tensor x = at::ones({2, 3});
  OperatorCalls calls;
  {
    const OperatorCounter counter(calls);
    at::zeros({2, 3}); // calls empty and zero_
    x.add(x);
    x.add(x);
  }
  x.mul(x);
  EXPECT_EQ(calls, (OperatorCalls{{"aten::zeros", 1}, {"aten::add", 2}}));
}

TEST(OperatorCounter, GoesOnAfterAnException) {
  const at::Tensor x = at::ones({2, 3});
  OperatorCalls calls;
  {
    const OperatorCounter counter(calls);
    EXPECT_THROW(x.matmul(x), c10::Error);
    x.relu();
  }
  EXPECT_EQ(calls, (OperatorCalls{{"aten::matmul", 1}, {"aten::relu", 1}}));
}

TEST(RewrittenOperators, AreThoseThatEagerCallsMoreOften) {
  EXPECT_EQ(rewritten_operators({{"a", 2}, {"b", 1}, {"c", 1}}, {{"a", 1}, {"b", 1}, {"d", 5}}), (Names{"a", "c"}));
}

TEST(RunProgram, CountsOperatorsWhereAsked) {
  const auto relu = [](const std::vector<c10::IValue> &) { return c10::IValue(at::ones({2}).relu()); };
  const Instance nothing{torch::jit::Module("__torch__.M"), {}};
  EXPECT_EQ(run_program(relu, nothing, {.operators = true}).operators.count("aten::relu"), 1u);
  EXPECT_TRUE(run_program(relu, nothing, {}).operators.empty()); // what is timed must not be slowed down
}

/// Returns the operators that were rewritten in a case of fixtures/cases, as check() tells them.
Names rewritten_in(const std::string &name, const std::string &backend) {
  const auto loaded = testing_support::load_case(name);
  const Program program = flatten_calls(loaded.model, loaded.inputs.values);
  const Verdict verdict =
      check(factory_of(std::make_shared<Program>(program)), make_backend(backend), {}, testing_support::test_limits());
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Fail) << verdict.message;
  return verdict.rewritten;
}

TEST(Check, SaysWhatTheBackendRewrote) {
  EXPECT_EQ(rewritten_in("freeze_linear_bn_3d", "freeze"), Names{"aten::batch_norm"}); // folded into a linear
  EXPECT_EQ(rewritten_in("jit_peephole_bool_mul1", "jit"), Names{"aten::mul"}); // taken for a multiplication by 1
}

} // namespace
} // namespace repro_minify
