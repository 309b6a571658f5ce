#include "program/formula.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <torch/csrc/jit/ir/constants.h>

#include <cmath>

namespace repro_minify {
namespace {

using namespace testing_support;

at::IntArrayRef sizes_of(const Program &program, size_t input) {
  return program.inputs.at(input).value.toTensor().sizes();
}

constexpr const char *linear = R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %y : Tensor = aten::linear(%x, %w, %none)
  return (%y))IR";

Program linear_program() {
  Program program = program_from(linear, {at::ones({4, 8}), at::ones({16, 8})});
  for (auto &input : program.inputs)
    input.formula = {.kind = Formula::Kind::Ones};
  return program;
}

bool agrees(const Program &candidate) {
  return sizes_of(candidate, 0).size() == 2 && sizes_of(candidate, 0)[1] == sizes_of(candidate, 1)[1];
}

TEST(Sizes, AllBecomeOneInOneCheck) {
  const auto result = run_pass("sizes", linear_program(), agrees);
  EXPECT_EQ(sizes_of(result.reduction.program, 0), at::IntArrayRef({1, 1}));
  EXPECT_EQ(sizes_of(result.reduction.program, 1), at::IntArrayRef({1, 1}));
  EXPECT_EQ(to_string(result.reduction.program.inputs[0].formula.value()), "ones");
  EXPECT_EQ(result.checks, 1);
}

TEST(Sizes, OneIsAsSmallAsTheFailureAllows) {
  const auto result = run_pass("sizes", linear_program(), [](const Program &candidate) {
    return agrees(candidate) && sizes_of(candidate, 1)[0] >= 5;
  });
  EXPECT_EQ(sizes_of(result.reduction.program, 0), at::IntArrayRef({1, 1}));
  EXPECT_EQ(sizes_of(result.reduction.program, 1), at::IntArrayRef({5, 1}));
  EXPECT_EQ(result.checks, 14);
}

TEST(Sizes, TheGraphFollows) {
  Program program = program_from(R"IR(
graph(%x : Tensor):
  %size : int[] = prim::Constant[value=[-1, 24]]()
  %y : Tensor = aten::view(%x, %size)
  return (%y))IR",
                                 {at::ones({3, 4, 6})});
  program.inputs[0].formula = {.kind = Formula::Kind::Ones};
  const auto result = run_pass("sizes", program, [](const Program &candidate) {
    const auto sizes = sizes_of(candidate, 0);
    const auto view = torch::jit::toIValue(candidate.graph->outputs()[0]->node()->input(1))->toIntVector();
    return view[1] == sizes[1] * sizes[2] && sizes[2] > 1;
  });
  EXPECT_EQ(sizes_of(result.reduction.program, 0), at::IntArrayRef({1, 1, 2}));
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %3 : int[] = prim::Constant[value=[-1, 2]]()
  %2 : Tensor = aten::view(%x, %3)
  return (%2)
)IR");
  EXPECT_EQ(result.checks, 14);
}

TEST(Sizes, DataKeepsTheElementThatMatters) {
  at::Tensor data = at::ones({6, 9});
  data[4][7] = NAN;
  const auto result = run_pass("sizes", program_from(linear, {data, at::ones({1, 1})}), [](const Program &candidate) {
    return std::isnan(candidate.inputs[0].value.toTensor().sum().item<double>());
  });
  EXPECT_EQ(sizes_of(result.reduction.program, 0), at::IntArrayRef({1, 1}));
  EXPECT_EQ(result.checks, 1);
}

TEST(Sizes, NothingIsAskedOfTheSmallest) {
  const auto result = run_pass("sizes", program_from(linear, {at::ones({1, 1}), at::ones({1, 1})}),
                               [](const Program &) { return true; });
  EXPECT_EQ(result.checks, 0);
}

/// Data that doubles do not hold is cut bit by bit.
TEST(Sizes, OfComplexNumbersAndOfLargeWholeNumbersGetSmallerToo) {
  constexpr int64_t large = (int64_t{1} << 62) + 1;
  const at::Tensor whole = at::full({4, 6}, large, at::kLong),
                   complex = at::complex(at::ones({4, 6}), at::ones({4, 6}));
  for (const at::Tensor &value : {whole, complex}) {
    const auto result =
        run_pass("sizes", program_from("graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n  return (%y)", {value}),
                 [&](const Program &candidate) {
                   const at::Tensor &now = candidate.inputs.at(0).value.toTensor();
                   return at::equal(now, value.slice(0, 0, now.size(0)).slice(1, 0, now.size(1)));
                 });
    EXPECT_EQ(sizes_of(result.reduction.program, 0), at::IntArrayRef({1, 1})) << value.scalar_type();
  }
}

} // namespace
} // namespace repro_minify
