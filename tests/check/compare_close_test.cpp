// The rules Close and Exact: by hand, and on random pairs against torch.testing.assert_close and the bits themselves.
#include "all_tests.h"
#include "check/decoder.h"
#include "check/oracle.h"
#include "repro_minify/compare.h"
#include "test_paths.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>

#include <unistd.h>

namespace repro_minify {
namespace {

using c10::IValue;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

CompareOptions close_options() {
  CompareOptions options;
  options.rule = CompareRule::Close;
  options.tol_by_dtype = true;
  return options;
}

CompareOptions exact_options() {
  CompareOptions options;
  options.rule = CompareRule::Exact;
  options.equal_nan = true;
  return options;
}

LeafReport report_of(const IValue &ref, const IValue &res, const CompareOptions &options,
                     const std::optional<IValue> &fp64 = std::nullopt) {
  std::vector<LeafReport> leaves;
  const bool answer = same(ref, res, fp64, options, &leaves);
  EXPECT_EQ(answer, same(ref, res, fp64, options));
  return leaves.at(0);
}

struct AssertCloseCase {
  IValue expected, actual;
  CompareOptions options;
  bool answer = false, raised = false, exact = false;
};

std::vector<AssertCloseCase> read_assert_close_cases(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const IValue all = torch::jit::pickle_load(bytes);
  const Decoder decoder(all.toTupleRef().elements()[0].toGenericDict());
  std::vector<AssertCloseCase> cases;
  for (const IValue &row : all.toTupleRef().elements()[1].toListRef()) {
    const auto &parts = row.toTupleRef().elements();
    CompareOptions options = close_options();
    options.tol_by_dtype = parts[2].toDouble() < 0;
    options.tol = parts[2].toDouble();
    options.equal_nan = parts[3].toBool();
    cases.push_back({decoder.decode(parts[0]), decoder.decode(parts[1]), options, parts[4].toBool(), parts[5].toBool(),
                     parts[6].toBool()});
  }
  return cases;
}

std::string shown(const AssertCloseCase &one, std::size_t index, const CompareOptions &options) {
  std::ostringstream out;
  out << "case " << index << ": assert_close says " << one.answer << ", exact " << one.exact << ", tol "
      << one.options.tol << " equal_nan " << one.options.equal_nan;
  std::vector<LeafReport> leaves;
  same(one.expected, one.actual, std::nullopt, options, &leaves);
  for (const LeafReport &leaf : leaves)
    out << "\n    " << leaf.path << " " << leaf.ref_type << " / " << leaf.res_type << ": " << leaf.message;
  return out.str();
}

TEST(CompareClose, AgreesWithAssertCloseAndWithTheBitsOnRandomPairs) {
  const std::string python = test_paths::python;
  const std::string script =
      std::filesystem::path(test_paths::fixtures).parent_path() / "tests/check/assert_close_oracle.py";
  const std::string file =
      std::filesystem::temp_directory_path() / ("assert_close_oracle_" + std::to_string(getpid()) + ".pt");
  const int count = how_many(600, 6000);
  const auto [output, status] =
      run_shell("'" + python + "' '" + script + "' '" + file + "' " + std::to_string(count) + " 1");
  if (status == 77 || status == 127 || python.empty())
    GTEST_SKIP() << "no Python with torch: " << output;
  ASSERT_EQ(status, 0) << output;
  at::set_num_threads(1);
  const std::vector<AssertCloseCase> cases = read_assert_close_cases(file);
  std::filesystem::remove(file);
  ASSERT_EQ(cases.size(), static_cast<std::size_t>(count));
  int raised = 0, close = 0, exact = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const AssertCloseCase &one = cases[i];
    raised += one.raised ? 1 : 0;
    close += one.answer ? 1 : 0;
    exact += one.exact ? 1 : 0;
    if (!one.raised) { // other types of numbers, no kernel: there is no answer to agree with
      EXPECT_EQ(same(one.expected, one.actual, std::nullopt, one.options), one.answer) << shown(one, i, one.options);
    }
    EXPECT_EQ(same(one.expected, one.actual, std::nullopt, exact_options()), one.exact)
        << shown(one, i, exact_options());
  }
  EXPECT_LT(raised, count / 20);
  EXPECT_GT(close, count / 5);
  EXPECT_GT(exact, count / 10);
  std::cout << count << " pairs: assert_close lets " << close << " pass, raises something else for " << raised << "; "
            << exact << " are equal bit for bit\n";
}

TEST(CompareClose, AsksNoFloat64) {
  const at::Tensor eager = at::tensor({1.0, 2.5}), better = at::tensor({1.0, 2.0});
  const IValue fp64 = at::tensor({1.0, 2.0}, at::kDouble);
  EXPECT_TRUE(report_of(eager, better, accuracy_check_options(), fp64).same);
  for (const CompareOptions &options : {close_options(), exact_options()}) {
    const LeafReport leaf = report_of(eager, better, options, fp64);
    EXPECT_EQ(leaf.kinds, std::vector{FailureKind::Accuracy});
    EXPECT_NE(leaf.message.find("1 of 2 elements not"), std::string::npos) << leaf.message;
    EXPECT_LT(leaf.res_error, leaf.ref_error);
  }
}

TEST(CompareClose, NearerToFloat64IsSaidUnderAnyRule) {
  const at::Tensor eager = at::tensor({1.0, 2.5}), better = at::tensor({1.0, 2.1}), worse = at::tensor({1.0, 3.1});
  const IValue fp64 = at::tensor({1.0, 2.0}, at::kDouble);
  for (const CompareRule rule :
       {CompareRule::Default, CompareRule::PyTorch, CompareRule::Strict, CompareRule::Close, CompareRule::Exact}) {
    CompareOptions options = accuracy_check_options();
    options.rule = rule;
    EXPECT_TRUE(report_of(eager, better, options, fp64).nearer_to_fp64) << to_string(rule);
    EXPECT_FALSE(report_of(eager, worse, options, fp64).nearer_to_fp64) << to_string(rule);
    EXPECT_FALSE(report_of(eager, eager, options, fp64).nearer_to_fp64) << to_string(rule);
    EXPECT_FALSE(report_of(eager, better, options).nearer_to_fp64) << to_string(rule) << ": no reference";
  }
}

TEST(CompareClose, RoundingIsNotNearer) {
  const at::Tensor eager = at::full({4}, 1.0f + 1e-7f), other = at::ones({4});
  EXPECT_FALSE(report_of(eager, other, exact_options(), IValue(at::ones({4}, at::kDouble))).nearer_to_fp64);
}

TEST(CompareClose, NaNEqualsNaNOnlyWhereItIsSaid) {
  CompareOptions options = close_options();
  const LeafReport leaf = report_of(at::tensor({1.0, no_number}), at::tensor({1.0, no_number}), options);
  EXPECT_EQ(leaf.kinds, std::vector{FailureKind::Nan});
  EXPECT_NE(leaf.message.find("--equal-nan"), std::string::npos) << leaf.message;
  options.equal_nan = true;
  EXPECT_TRUE(same(at::tensor({1.0, no_number}), at::tensor({1.0, no_number}), std::nullopt, options));
}

TEST(CompareExact, SeesEveryBitButThoseOfNaN) {
  const CompareOptions options = exact_options();
  EXPECT_FALSE(same(at::tensor({0.0}), at::tensor({-0.0}), std::nullopt, options));
  const LeafReport leaf = report_of(at::tensor({1.0, 0.0}), at::tensor({1.0, -0.0}), options);
  EXPECT_NE(leaf.message.find("zeros of the other sign"), std::string::npos);
  EXPECT_NE(leaf.message.find("at [1]: 0 expected, -0 found"), std::string::npos) << leaf.message;
  EXPECT_TRUE(same(at::tensor({no_number}), at::tensor({-no_number}), std::nullopt, options));
  EXPECT_FALSE(same(at::tensor({1.0}), at::tensor({std::nextafter(1.0f, 2.0f)}), std::nullopt, options));
  EXPECT_FALSE(same(at::tensor({1}, at::kInt), at::tensor({1}, at::kLong), std::nullopt, options));
}

TEST(CompareExact, SaysWhereWholeNumbersDifferThatAreOneDouble) {
  const at::Tensor one = at::full({2}, std::int64_t{1} << 53, at::kLong);
  at::Tensor other = one.clone();
  other[1] += 1;
  const LeafReport leaf = report_of(one, other, exact_options());
  EXPECT_EQ(leaf.kinds, std::vector{FailureKind::Accuracy});
  EXPECT_EQ(leaf.max_abs_error, 1);
  EXPECT_EQ(leaf.worst_index, 1);
}

TEST(CompareExact, SeesStrides) {
  const at::Tensor matrix = at::rand({3, 4}), other = matrix.t().contiguous().t();
  const LeafReport leaf = report_of(matrix, other, exact_options());
  EXPECT_EQ(leaf.kinds, std::vector{FailureKind::Structure});
  EXPECT_NE(leaf.message.find("strides [4, 1] expected, [1, 3] found"), std::string::npos) << leaf.message;
  EXPECT_TRUE(same(matrix, other, std::nullopt, close_options())) << "as assert_close has it";
  const at::Tensor row = at::rand({1, 4});
  EXPECT_TRUE(same(row, row.as_strided({1, 4}, {9, 1}), std::nullopt, exact_options()));
}

// The rounding of bfloat16 is no failure besides the dtype's own.
TEST(CompareDtype, WhatTheCoarserDtypeRoundsOffIsNotAccuracy) {
  at::manual_seed(0);
  const at::Tensor wide = at::randn({64, 64});
  for (const CompareRule rule : {CompareRule::Default, CompareRule::Strict, CompareRule::Close, CompareRule::Exact}) {
    CompareOptions options = accuracy_check_options();
    options.rule = rule;
    options.tol_by_dtype = rule == CompareRule::Close;
    const std::vector<FailureKind> dtype = {FailureKind::Dtype}, both = {FailureKind::Accuracy, FailureKind::Dtype};
    const LeafReport widened = report_of(wide.to(at::kBFloat16), wide, options);
    EXPECT_EQ(widened.kinds, dtype) << to_string(rule) << ": " << widened.message;
    EXPECT_NE(widened.message.find("the values agree"), std::string::npos) << widened.message;
    EXPECT_EQ(report_of(wide, wide.to(at::kHalf), options).kinds, dtype) << to_string(rule);
    EXPECT_EQ(report_of(wide.to(at::kBFloat16), wide + 0.5, options).kinds, both) << to_string(rule);
  }
}

} // namespace
} // namespace repro_minify
