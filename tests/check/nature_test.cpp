// Bug or rounding: each rule, and what the rules rest on, on programs of which it is known.
#include "check/test_backend.h"
#include "repro_minify/nature.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using Kind = Nature::Kind;

/// The Verdict on two tensors of which the second is wrong, by the exact rule.
Verdict exactly(const at::Tensor &eager, const at::Tensor &found, const std::optional<c10::IValue> &fp64 = {}) {
  CompareOptions options;
  options.rule = CompareRule::Exact;
  options.equal_nan = true;
  Verdict verdict;
  EXPECT_FALSE(same(eager, found, fp64, options, &verdict.outputs));
  verdict.outcome = Verdict::Outcome::Fail;
  verdict.signatures = {{verdict.outputs.front().kinds.front(), "output", ""}};
  return verdict;
}

Kind kind_of(const Verdict &verdict, const Movement &movement, int operators = 1, std::optional<bool> unwritten = {},
             std::optional<bool> fails_rounded = {}) {
  const auto nature = nature_of({verdict, verdict.signatures.front(), movement, operators, unwritten, fails_rounded});
  EXPECT_TRUE(nature) << "no nature";
  return nature ? nature->kind : Kind::WrongValue;
}

const at::Tensor one = at::ones({4});
const Movement still = {.by_rounding = 0, .by_seed = 0};

TEST(Nature, CallsAFewUnitsForEachOperatorRounding) {
  const float unit = std::numeric_limits<float>::epsilon();
  EXPECT_EQ(kind_of(exactly(one, one + 3 * unit), still), Kind::Rounding);
  EXPECT_EQ(kind_of(exactly(one, one + 12 * unit), still), Kind::WrongValue);
  EXPECT_EQ(kind_of(exactly(one, one + 12 * unit), still, 3), Kind::Rounding);
  EXPECT_EQ(kind_of(exactly(one, one + 12 * unit), {.operators = 3, .by_rounding = 0, .by_seed = 0}, 0),
            Kind::Rounding);
  EXPECT_EQ(kind_of(exactly(one.to(at::kBFloat16), one.to(at::kBFloat16) + 0.015625), still), Kind::Rounding);
}

TEST(Nature, CallsAnErrorAsLargeAsEagersRounding) {
  const c10::IValue truth = at::full({4}, 1.001, at::kDouble);
  EXPECT_EQ(kind_of(exactly(one, one + 0.003, truth), still), Kind::Rounding);
  EXPECT_EQ(kind_of(exactly(one, one + 0.3, truth), still), Kind::WrongValue);
}

TEST(Nature, CallsWhatMovesWithItsInputsIllConditioned) {
  EXPECT_EQ(kind_of(exactly(one, one + 0.25), {.by_rounding = 0.1, .by_seed = 0}), Kind::IllConditioned);
  EXPECT_EQ(kind_of(exactly(one, one + 0.25), {.by_rounding = 1e-6, .by_seed = 0}), Kind::WrongValue);
}

/// Where `round` has a tie, eager moves by a whole step when its input moves, and is right.
TEST(Nature, AStepOfOneOperatorThatEagerTakesAsFloat64DoesIsSpecified) {
  const Verdict step = exactly(one, one + 0.25, one.to(at::kDouble));
  EXPECT_EQ(kind_of(step, {.operators = 1, .by_rounding = 0.25, .by_seed = 0}, 1), Kind::WrongValue);
  EXPECT_EQ(kind_of(step, {.operators = 2, .by_rounding = 0.25, .by_seed = 0}, 2), Kind::IllConditioned);
}

TEST(Nature, TellsATieAStepAndAWrongWholeNumberApart) {
  const at::Tensor eager = at::ones({4}, at::kLong), found = eager + 2;
  Verdict at_equal = exactly(eager, found);
  const Movement moves = {.orders = true, .by_rounding = 3, .by_seed = 0};
  EXPECT_EQ(kind_of(at_equal, moves), Kind::WrongValue);
  at_equal.signatures.front().at_equal_elements = true;
  EXPECT_EQ(kind_of(at_equal, moves), Kind::Tie);
  EXPECT_EQ(kind_of(at_equal, {.by_rounding = 1, .by_seed = 0}), Kind::IllConditioned);
  EXPECT_EQ(kind_of(exactly(eager, eager + 183), {.by_rounding = 1, .by_seed = 0}), Kind::WrongValue);
  EXPECT_EQ(kind_of(exactly(eager, found), {.orders = true, .by_rounding = 0, .by_seed = 0}), Kind::WrongValue);
}

TEST(Nature, KnowsMemoryChanceAndCasts) {
  const Verdict far = exactly(one, one + 0.5);
  EXPECT_EQ(kind_of(far, still, 1, true), Kind::UnwrittenMemory);
  EXPECT_EQ(kind_of(far, {.by_rounding = 0, .by_seed = 0.7}), Kind::RandomNumbers);
  EXPECT_EQ(kind_of(far, still, 1, false, false), Kind::Cast);
  EXPECT_EQ(kind_of(far, still, 1, false, true), Kind::WrongValue);
}

TEST(Nature, IsAWrongValueWhereANaNAppears) {
  EXPECT_EQ(kind_of(exactly(one, one / 0 - one / 0), {}), Kind::WrongValue);
}

TEST(Nature, SaysNothingOfADtypeOrAnException) {
  const Verdict verdict = exactly(one, one.to(at::kDouble));
  EXPECT_FALSE(nature_of({verdict, {FailureKind::Dtype, "output", ""}, still}));
  EXPECT_FALSE(nature_of({verdict, {FailureKind::Exception, "", "no"}, still}));
}

/// Compiles to something that is off by a half.
Compiled off_by_a_half(torch::jit::Module module) {
  return [module](std::vector<c10::IValue> arguments) mutable {
    const c10::IValue result = module.forward(std::move(arguments));
    return c10::IValue(result.toTensor() + 1);
  };
}

Movement movement_of(const char *forward, const std::vector<c10::IValue> &arguments) {
  const ModuleFactory factory = [&](const InstantiateOptions &) {
    torch::jit::Module module("m");
    module.define(std::string("def forward(self, x: Tensor):\n  return ") + forward + "\n");
    std::vector<c10::IValue> copies;
    for (const auto &argument : arguments)
      copies.emplace_back(argument.toTensor().clone());
    return Instance{module, copies};
  };
  const auto backend = testing_support::backend_that(off_by_a_half);
  const Limits limits{.timeout = std::chrono::seconds(60)};
  const Verdict verdict = check(factory, backend, {}, limits);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Fail) << verdict.message;
  return movement_of_eager(factory, backend, {}, verdict, verdict.signatures.front(), limits);
}

TEST(Movement, IsOfTheSizeOfTheLastPlace) {
  const Movement movement = movement_of("x * 2", {at::full({8}, 1.5)});
  EXPECT_GT(movement.by_rounding, 1e-7);
  EXPECT_LT(movement.by_rounding, 1e-6);
  EXPECT_EQ(movement.by_seed, 0);
  EXPECT_EQ(movement.operators, 1);
  EXPECT_FALSE(movement.orders);
}

TEST(Movement, GrowsWhereNearlyEqualNumbersAreSubtracted) {
  EXPECT_GT(movement_of("(x - 1.0) * 1e6", {at::full({8}, 1.0)}).by_rounding, 0.1);
}

TEST(Movement, SeesTiesAndRandomNumbers) {
  const Movement tie = movement_of("torch.argmax(x)", {at::ones({64})});
  EXPECT_GT(tie.by_rounding, 0);
  EXPECT_TRUE(tie.orders);
  EXPECT_GT(movement_of("x + torch.rand([8])", {at::ones({8})}).by_seed, 0);
  EXPECT_EQ(movement_of("x + 1", {at::ones({8}, at::kLong)}).by_rounding, 0);
}

// An index of equal elements is another failure than an index that is wrong.

using Index = std::function<at::Tensor(const at::Tensor &)>;

/// The Verdict on a backend that gives this index of the largest element.
Verdict verdict_on(const at::Tensor &x, const Index &index, int calls = 1) {
  const ModuleFactory factory = [x](const InstantiateOptions &) {
    torch::jit::Module module("m");
    module.define("def forward(self, x: Tensor):\n  return torch.argmax(x)\n");
    return Instance{module, {x.clone()}};
  };
  const auto backend = testing_support::backend_that(
      [index](const torch::jit::Module &) -> Compiled {
        return [index](const std::vector<c10::IValue> &arguments) -> c10::IValue {
          return index(arguments[0].toTensor());
        };
      },
      {.needs_several_calls = calls > 1});
  return check(factory, backend, {}, {.timeout = std::chrono::seconds(20)});
}

at::Tensor last_of_the_largest(const at::Tensor &x) {
  return x.numel() - 1 - x.flip(0).argmax();
}

TEST(EqualElements, TellAWrongIndexFromAnother) {
  const at::Tensor signs = at::tensor({1.0, -1.0, 1.0, -1.0});
  const Verdict tie = verdict_on(signs, last_of_the_largest);
  const Verdict wrong = verdict_on(signs, [](const at::Tensor &x) { return x.argmin(); });
  ASSERT_EQ(tie.outcome, Verdict::Outcome::Fail);
  ASSERT_EQ(wrong.outcome, Verdict::Outcome::Fail);
  EXPECT_TRUE(tie.signatures.front().at_equal_elements);
  EXPECT_FALSE(wrong.signatures.front().at_equal_elements);
  EXPECT_FALSE(shows(tie, wrong.signatures.front()));
  EXPECT_TRUE(shows(wrong, tie.signatures.front()));
  EXPECT_TRUE(shows(tie, tie.signatures.front()));
}

TEST(EqualElements, AreToldInEveryDtypeAndOfZerosToo) {
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble})
    for (const double value : {0.0, 1.0, 100.0}) {
      const Verdict verdict = verdict_on(at::full({8}, value, dtype), last_of_the_largest);
      ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail);
      EXPECT_TRUE(verdict.signatures.front().at_equal_elements) << dtype << " " << value;
    }
}

/// A NaN is the largest wherever it stands, and there is nothing to move in whole numbers.
TEST(EqualElements, AreNoExcuseWhereNothingIsMovedApart) {
  const at::Tensor nan = at::tensor({0.0, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_FALSE(verdict_on(nan, [](const at::Tensor &x) { return x.nan_to_num(-1).argmax(); })
                   .signatures.front()
                   .at_equal_elements);
  EXPECT_FALSE(verdict_on(at::tensor({1, 0, 1}), last_of_the_largest).signatures.front().at_equal_elements);
}

/// A backend may be right in its first call, in which it looks at what there is to compile.
TEST(EqualElements, AreAskedOfTheCallThatFails) {
  const auto wrong_from_the_second_call_on = [calls = std::make_shared<int>(0)](const at::Tensor &x) {
    return ++*calls % 2 == 1 ? x.argmax() : x.argmin();
  };
  const Verdict verdict = verdict_on(at::tensor({1.0, -1.0, 1.0}), wrong_from_the_second_call_on, 2);
  EXPECT_EQ(verdict.failing_call, 2);
  EXPECT_FALSE(verdict.signatures.front().at_equal_elements);
}

TEST(EqualElements, AreKeptInTheJournal) {
  const Verdict tie = verdict_on(at::zeros({2}), last_of_the_largest);
  EXPECT_EQ(verdict_from_json(to_json(tie)).signatures, tie.signatures);
}

} // namespace
} // namespace repro_minify
