// Large tensors are compared a block at a time: the answer is that of the whole.
#include "check/compare_tensors.h"

#include "repro_minify/compare.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace repro_minify {
namespace {

constexpr std::int64_t row_length = 1000,
                       many_rows = 2 * elements_of_a_block / row_length + 77; // two blocks and a part

/// Three operands that are not contiguous, with something odd in the last block.
struct Operands {
  at::Tensor ref, res, fp64;
};

Operands operands(std::int64_t odd_row, double odd) {
  at::manual_seed(3);
  const at::Tensor fp64 = at::randn({row_length, many_rows}, at::kDouble).t();
  Operands made{fp64.to(at::kFloat), fp64.to(at::kFloat), fp64};
  made.res.add_(at::randn({row_length, many_rows}).t(), 1e-6);
  made.res[odd_row][5] = odd;
  return made;
}

LeafReport compared(const Operands &o, CompareRule rule = CompareRule::Default) {
  CompareOptions options = accuracy_check_options();
  options.rule = rule;
  std::vector<LeafReport> leaves;
  same(o.ref, o.res, c10::IValue(o.fp64), options, &leaves);
  return leaves.at(0);
}

double rmse(const at::Tensor &a, const at::Tensor &b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).square().mean().sqrt().item<double>();
}

TEST(Blocks, HaveEveryElementOnce) {
  const at::Tensor all = at::arange(3 * elements_of_a_block + 5).view({-1, 1}).expand({-1, 2}).t();
  std::int64_t seen = 0;
  const bool whole = for_each_block(std::array{all, at::Tensor()}, [&](const auto &block, std::int64_t first) {
    EXPECT_EQ(first, seen);
    EXPECT_FALSE(block[1].defined());
    EXPECT_TRUE(at::equal(block[0], all.reshape({-1}).narrow(0, first, block[0].numel())));
    seen += block[0].numel();
    return true;
  });
  EXPECT_TRUE(whole);
  EXPECT_EQ(seen, all.numel());
}

TEST(Blocks, EndWhereTheyAreToldTo) {
  int calls = 0;
  EXPECT_FALSE(for_each_block(std::array{at::zeros({elements_of_a_block + 1})}, [&](const auto &, std::int64_t) {
    ++calls;
    return false;
  }));
  EXPECT_EQ(calls, 1);
}

TEST(Blocks, ErrorsAreThoseOfTheWhole) {
  const Operands o = operands(many_rows - 1, 3000);
  const LeafReport leaf = compared(o);
  EXPECT_EQ(leaf.kinds, std::vector{FailureKind::Accuracy});
  EXPECT_NEAR(leaf.ref_error, rmse(o.fp64, o.ref), 1e-12 * leaf.ref_error);
  EXPECT_NEAR(leaf.res_error, rmse(o.fp64, o.res), 1e-12 * leaf.res_error);
  EXPECT_EQ(leaf.worst_index, (many_rows - 1) * row_length + 5);
  EXPECT_EQ(leaf.res_at_worst, 3000);
  const at::Tensor ref = o.ref.to(at::kDouble), error = (o.res.to(at::kDouble) - ref).abs();
  EXPECT_EQ(leaf.max_abs_error, error.max().item<double>());
  EXPECT_EQ(leaf.max_rel_error, (error / ref.abs()).max().item<double>());
}

TEST(Blocks, AnInfinityIsFoundWhereverItIs) {
  for (const std::int64_t row : {std::int64_t{0}, many_rows / 2, many_rows - 1}) {
    const LeafReport leaf = compared(operands(row, std::numeric_limits<double>::infinity()));
    EXPECT_EQ(leaf.kinds, std::vector{FailureKind::Nan}) << leaf.message;
    EXPECT_EQ(leaf.res_inf, 1);
    EXPECT_EQ(leaf.ref_inf, 0);
    EXPECT_NE(leaf.message.find("first at [" + std::to_string(row) + ", 5]"), std::string::npos) << leaf.message;
  }
}

TEST(Blocks, ThoseOfComplexNumbersAreOfTheirParts) {
  Operands o = operands(many_rows - 1, 3000);
  o = {at::complex(o.ref, o.ref), at::complex(o.ref, o.res), at::complex(o.fp64, o.fp64)};
  const LeafReport leaf = compared(o);
  EXPECT_EQ(leaf.kinds, std::vector{FailureKind::Accuracy});
  EXPECT_EQ(leaf.worst_index, (many_rows - 1) * row_length + 5);
}

TEST(Blocks, WithoutAReferenceTheFiniteRestIsCompared) {
  Operands o = operands(many_rows - 1, 3000);
  o.fp64 = o.ref; // of no use as one
  o.ref[0][0] = o.res[0][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compared(o).kinds, std::vector{FailureKind::Accuracy});
  o.res[many_rows - 1][5] = o.ref[many_rows - 1][5];
  EXPECT_TRUE(compared(o).same);
}

} // namespace
} // namespace repro_minify
