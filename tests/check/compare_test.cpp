// Every branch of `same`, and the deliberate differences D1 to D4, on the smallest values that show it.
#include "repro_minify/compare.h"

#include <ATen/ATen.h>
#include <ATen/core/class_type.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <cmath>
#include <limits>

namespace repro_minify {
namespace {

using c10::IValue;
using Kinds = std::vector<FailureKind>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

at::Tensor floats(const std::vector<double> &values) {
  return at::tensor(values, at::kDouble).to(at::kFloat);
}
at::Tensor doubles(const std::vector<double> &values) {
  return at::tensor(values, at::kDouble);
}
at::Tensor bools(const std::vector<int> &values) {
  return at::tensor(values).to(at::kBool);
}
IValue none() {
  return IValue();
}

CompareOptions with_rule(CompareRule rule) {
  CompareOptions options = accuracy_check_options();
  options.rule = rule;
  return options;
}
const CompareOptions by_default = with_rule(CompareRule::Default);
const CompareOptions as_pytorch = with_rule(CompareRule::PyTorch);
const CompareOptions strictly = with_rule(CompareRule::Strict);

IValue list(const std::vector<IValue> &values) {
  c10::impl::GenericList made(c10::AnyType::get());
  for (const IValue &value : values)
    made.push_back(value);
  return made;
}

IValue dict(const std::vector<std::pair<std::string, IValue>> &items) {
  c10::impl::GenericDict made(c10::StringType::get(), c10::AnyType::get());
  for (const auto &[key, value] : items)
    made.insert(key, value);
  return made;
}

IValue object(const std::vector<std::pair<std::string, IValue>> &attributes) {
  const auto type = c10::ClassType::create(c10::QualifiedName("__torch__.Thing"), {});
  auto made = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), attributes.size());
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    type->addAttribute(attributes[i].first, c10::AnyType::get());
    made->setSlot(i, attributes[i].second);
  }
  return made;
}

/// The leaves that are not the same.
std::vector<LeafReport> wrong_leaves(const IValue &ref, const IValue &res, const std::optional<IValue> &fp64,
                                     const CompareOptions &options) {
  std::vector<LeafReport> leaves;
  const bool answer = same(ref, res, fp64, options, &leaves);
  EXPECT_EQ(answer, same(ref, res, fp64, options));
  std::erase_if(leaves, [](const LeafReport &leaf) { return leaf.same; });
  EXPECT_EQ(answer, leaves.empty());
  return leaves;
}

Kinds kinds(const IValue &ref, const IValue &res, const std::optional<IValue> &fp64 = {},
            const CompareOptions &options = by_default) {
  const std::vector<LeafReport> leaves = wrong_leaves(ref, res, fp64, options);
  return leaves.empty() ? Kinds{} : leaves[0].kinds;
}

// --- structure -------------------------------------------------------------------------------------------------------

TEST(Compare, OtherStructureIsAMismatchAndNeverAnError) {
  const IValue x = at::ones({2});
  for (const IValue &other : {none(), list({x, x}), dict({{"a", x}}), IValue("text"), object({{"a", x}})}) {
    EXPECT_EQ(kinds(x, other), Kinds{FailureKind::Structure});
    EXPECT_EQ(kinds(other, x), Kinds{FailureKind::Structure});
  }
  EXPECT_EQ(kinds(list({x}), list({x, x})), Kinds{FailureKind::Structure});
  EXPECT_EQ(kinds(dict({{"a", x}}), dict({{"b", x}})), Kinds{FailureKind::Structure});
  EXPECT_EQ(kinds(dict({{"a", x}}), dict({{"a", x}, {"b", x}})), Kinds{FailureKind::Structure});
  EXPECT_EQ(kinds(object({{"a", x}}), object({{"b", x}})), Kinds{FailureKind::Structure});
}

TEST(Compare, UndefinedTensorIsNone) {
  EXPECT_TRUE(same(at::Tensor(), none(), {}, by_default));
  EXPECT_EQ(kinds(at::ones({2}), at::Tensor()), Kinds{FailureKind::Structure});
  EXPECT_TRUE(same(at::ones({2}), at::ones({2}), at::Tensor(), by_default));
}

TEST(Compare, NamesTheLeavesThatDifferAndGoesOn) {
  const IValue good = at::ones({2});
  const IValue bad = at::zeros({2});
  const IValue ref = list({good, dict({{"z", good}, {"a", list({good})}}), object({{"field", good}})});
  const IValue res = list({good, dict({{"z", bad}, {"a", list({bad})}}), object({{"field", bad}})});
  const std::vector<LeafReport> leaves = wrong_leaves(ref, res, {}, by_default);
  ASSERT_EQ(leaves.size(), 3U);
  EXPECT_EQ(leaves[0].path, "[1]['a'][0]");
  EXPECT_EQ(leaves[1].path, "[1]['z']");
  EXPECT_EQ(leaves[2].path, "[2].field");
}

TEST(Compare, TypedListsAndTuplesAreSequencesAlike) {
  const IValue tuple = c10::ivalue::Tuple::create(std::vector<IValue>{at::ones({1}), at::ones({1})});
  EXPECT_TRUE(same(c10::List<at::Tensor>({at::ones({1}), at::ones({1})}), tuple, {}, by_default));
  EXPECT_TRUE(same(c10::List<std::int64_t>({1, 2}), list({1, 2}), {}, by_default));
  EXPECT_EQ(kinds(list({at::ones({1}), at::ones({1})}), tuple, {}, strictly), Kinds{FailureKind::Structure});
}

TEST(Compare, ObjectThatHoldsItselfEnds) {
  IValue ref = object({{"me", none()}});
  ref.toObject()->setSlot(0, ref);
  EXPECT_EQ(kinds(ref, ref), Kinds{FailureKind::Structure});
  ref.toObject()->setSlot(0, none());
}

TEST(Compare, PlainValues) {
  EXPECT_TRUE(same(1, true, {}, by_default)); // as in Python
  EXPECT_EQ(kinds(1, true, {}, strictly), Kinds{FailureKind::Structure});
  EXPECT_EQ(kinds(1, 2), Kinds{FailureKind::Accuracy});
  EXPECT_EQ(kinds("a", "b"), Kinds{FailureKind::Accuracy});
  EXPECT_EQ(kinds(1, "1"), Kinds{FailureKind::Structure});
  EXPECT_EQ(kinds(c10::Device("cpu"), c10::Device("cuda:0")), Kinds{FailureKind::Accuracy});
  EXPECT_FALSE(same(std::int64_t{(1LL << 53) + 1}, std::ldexp(1.0, 53), {}, by_default));
  CompareOptions ignoring = by_default;
  ignoring.ignore_non_fp = true;
  EXPECT_TRUE(same(1, 2, {}, ignoring));
  EXPECT_TRUE(same("a", "b", {}, ignoring));
}

TEST(Compare, PlainValuesThatDifferAreBothShown) {
  const auto sentence = [](const IValue &ref, const IValue &res) {
    return wrong_leaves(ref, res, {}, by_default).at(0).message;
  };
  EXPECT_EQ(sentence(3, 4), "3 expected, 4 found");
  EXPECT_EQ(sentence("up", "down"), "'up' expected, 'down' found");
  EXPECT_EQ(sentence(1, "1"), "1 (int) expected, '1' (str) found");
  EXPECT_EQ(sentence(none(), true), "None expected, True (bool) found");
  EXPECT_EQ(sentence(list({3}), list({4})), "[0]: 3 expected, 4 found");
  EXPECT_EQ(sentence("", std::string(1000, 'x')), "'' expected, '" + std::string(80, 'x') + "'... of 1000 bytes found");
  EXPECT_EQ(wrong_leaves(3, 7, {}, by_default).at(0).max_abs_error, 4);
}

TEST(Compare, FloatIsATensorOfNoDimensions) {
  EXPECT_TRUE(same(1.0, 1.0005, {}, by_default));
  EXPECT_EQ(kinds(1.0, 1.01), Kinds{FailureKind::Accuracy});
  EXPECT_EQ(kinds(1.0, 1), Kinds{FailureKind::Dtype});
  EXPECT_TRUE(same(1.0, at::ones({}), {}, by_default));
  EXPECT_TRUE(same(1e300, 2e300, {}, by_default)); // both overflow float32
  EXPECT_FALSE(same(1e300, 2e300, {}, strictly));
}

// --- dtype, layout, bools --------------------------------------------------------------------------------------------

TEST(Compare, DtypeAndValuesAreToldApart) {
  EXPECT_EQ(kinds(floats({1, 2}), floats({1, 2}).to(at::kHalf)), Kinds{FailureKind::Dtype});
  EXPECT_EQ(kinds(floats({1, 2}), floats({1, 3}).to(at::kHalf)), (Kinds{FailureKind::Accuracy, FailureKind::Dtype}));
  EXPECT_EQ(kinds(at::tensor({2}), bools({1})), (Kinds{FailureKind::Accuracy, FailureKind::Dtype}));
  EXPECT_EQ(kinds(at::tensor({1}), bools({1})), Kinds{FailureKind::Dtype});
  EXPECT_EQ(kinds(floats({2.5}), at::tensor({2})), (Kinds{FailureKind::Accuracy, FailureKind::Dtype}));
  CompareOptions loose = by_default;
  loose.exact_dtype = false;
  EXPECT_TRUE(same(floats({1, 2}), floats({1, 2}).to(at::kHalf), {}, loose));
}

TEST(Compare, DtypeMismatchUsesTheReferenceWithTheResultsMultiplier) {
  const at::Tensor fp64 = at::linspace(-4, 4, 2000, at::kDouble);
  const at::Tensor rounded = fp64.to(at::kBFloat16);
  EXPECT_EQ(kinds(fp64.to(at::kFloat), rounded, fp64), Kinds{FailureKind::Dtype});
}

TEST(Compare, SparseAgainstSparseIsDense) {
  const at::Tensor dense = floats({0, 1, 2});
  EXPECT_TRUE(same(dense.to_sparse(), dense.to_sparse(), {}, by_default));
  EXPECT_EQ(kinds(dense.to_sparse(), floats({0, 1, 3}).to_sparse()), Kinds{FailureKind::Accuracy});
  EXPECT_EQ(kinds(dense.to_sparse(), dense), Kinds{FailureKind::Structure});
  EXPECT_EQ(kinds(dense, dense.to_sparse()), Kinds{FailureKind::Structure});
}

TEST(Compare, OddLayoutsAndDtypesCompareByValue) {
  const at::Tensor x = floats({0.5, 1, 2});
  const at::Tensor y = floats({0.5, 1, 3});
  for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kUInt16, at::kUInt64, at::kHalf}) {
    EXPECT_TRUE(same(x.to(type), x.to(type), {}, by_default)) << type;
    EXPECT_EQ(kinds(x.to(type), y.to(type)), Kinds{FailureKind::Accuracy}) << type;
  }
  EXPECT_EQ(kinds(x.to(at::kComplexHalf), y.to(at::kComplexHalf)), Kinds{FailureKind::Accuracy});
  const auto quantized = [](const at::Tensor &t) { return at::quantize_per_tensor(t, 0.1, 0, at::kQInt8); };
  EXPECT_TRUE(same(quantized(x), quantized(x), {}, by_default));
  EXPECT_EQ(kinds(quantized(x), quantized(y)), Kinds{FailureKind::Accuracy});
  EXPECT_TRUE(same(x.view({1, 3}).to_mkldnn(), x.view({1, 3}).to_mkldnn(), {}, by_default));
  EXPECT_TRUE(same(x.clone().set_requires_grad(true), x, {}, by_default));
  EXPECT_EQ(kinds(at::empty({2}, at::kMeta), at::empty({2}, at::kMeta)), Kinds{FailureKind::Structure});
}

TEST(Compare, Bools) {
  const at::Tensor ref = bools({1, 1, 1, 0});
  const at::Tensor res = bools({1, 1, 0, 0}); // 2 of 3 in common
  EXPECT_EQ(kinds(ref, res), Kinds{FailureKind::Accuracy});
  CompareOptions options = by_default;
  options.use_iou_for_bool = true;
  EXPECT_EQ(kinds(ref, res, {}, options), Kinds{FailureKind::Accuracy});
  options.iou_threshold = 0.6;
  EXPECT_TRUE(same(ref, res, {}, options));
  options.iou_threshold = 2;
  EXPECT_TRUE(same(bools({0, 0}), bools({0, 0}), {}, options));
  CompareOptions ignoring = by_default;
  ignoring.ignore_non_fp = true;
  EXPECT_TRUE(same(ref, res, {}, ignoring));
}

// --- closeness -------------------------------------------------------------------------------------------------------

TEST(Compare, ClosenessIsRelativeToTheResult) {
  EXPECT_TRUE(same(floats({100}), floats({100.1}), {}, by_default));
  EXPECT_EQ(kinds(floats({100}), floats({100.2})), Kinds{FailureKind::Accuracy});
}

TEST(Compare, CosineSimilarity) {
  CompareOptions options = by_default;
  options.cos_similarity = true;
  EXPECT_TRUE(same(floats({1, 2, 3}), floats({2, 4, 6}), {}, options));
  EXPECT_EQ(kinds(floats({1, 0}), floats({0, 1}), {}, options), Kinds{FailureKind::Accuracy});
  EXPECT_TRUE(same(at::zeros({3}), at::zeros({3}), {}, options));
  EXPECT_EQ(kinds(floats({1, nan}), floats({1, 2}), {}, options), Kinds{FailureKind::Nan});
}

/// Eager is off by 1 everywhere; the result may be off by the multiplier.
void expect_multiplier(double expected, at::IntArrayRef shape, at::ScalarType type, const CompareOptions &options) {
  const at::Tensor fp64 = at::zeros(shape, at::kDouble);
  const at::Tensor ref = at::ones(shape, type);
  EXPECT_TRUE(same(ref, ref * (expected - 0.0625), fp64, options)) << expected;
  EXPECT_EQ(kinds(ref, ref * (expected + 0.0625), fp64, options), Kinds{FailureKind::Accuracy}) << expected;
}

TEST(Compare, Multipliers) {
  CompareOptions options = by_default;
  expect_multiplier(2, {1000}, at::kFloat, options);
  expect_multiplier(3, {1000}, at::kHalf, options);
  expect_multiplier(3, {1000}, at::kBFloat16, options);
  expect_multiplier(3, {999}, at::kFloat, options);
  expect_multiplier(3, {1, 1000, 1, 1}, at::kFloat, options);
  expect_multiplier(2, {1, 1000, 1}, at::kFloat, options);
  options.use_larger_multiplier_for_smaller_tensor = true;
  expect_multiplier(10, {10}, at::kFloat, options);
  expect_multiplier(8, {11}, at::kFloat, options);
  expect_multiplier(8, {500}, at::kFloat, options);
  const bool since_2_15 = TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 15;
  expect_multiplier(since_2_15 ? 8 : 3, {501}, at::kFloat, options);
  options.force_max_multiplier = true;
  expect_multiplier(10, {1000}, at::kFloat, options);
  CompareOptions tolerant = by_default;
  tolerant.tol = 0.02;
  expect_multiplier(3, {1000}, at::kFloat, tolerant);
}

TEST(Compare, ResultBetterThanANanReferenceIsFine) {
  const at::Tensor fp64 = doubles({1, 2});
  EXPECT_TRUE(same(floats({nan, 2}), floats({1.03, 2}), fp64, by_default));
  EXPECT_EQ(kinds(floats({nan, 2}), floats({1.1, 2}), fp64), Kinds{FailureKind::Nan});
  EXPECT_TRUE(same(floats({inf, 2}), floats({1.03, 2}), fp64, by_default)); // eager overflowed
}

TEST(Compare, NansAreEqualOnlyIfTheyMayBe) {
  EXPECT_TRUE(same(floats({nan, 1}), floats({nan, 1}), {}, by_default));
  CompareOptions options = by_default;
  options.equal_nan = false;
  EXPECT_EQ(kinds(floats({nan, 1}), floats({nan, 1}), {}, options), Kinds{FailureKind::Nan});
}

// --- the deliberate differences --------------------------------------------------------------------------------------

TEST(CompareD1, IgnoringNonFloatsDoesNotIgnoreFloats) {
  CompareOptions ours = by_default;
  CompareOptions theirs = as_pytorch;
  ours.ignore_non_fp = theirs.ignore_non_fp = true;
  EXPECT_TRUE(same(floats({1}), floats({100}), {}, theirs));
  EXPECT_EQ(kinds(floats({1}), floats({100}), {}, ours), Kinds{FailureKind::Accuracy});
  EXPECT_TRUE(same(at::tensor({1}), at::tensor({100}), {}, ours));
}

TEST(CompareD2, ShapesMustBeEqual) {
  EXPECT_TRUE(same(at::ones({3, 4}), at::ones({4}), {}, as_pytorch)); // the other way round, 2.11's allclose raises
  EXPECT_EQ(kinds(at::ones({4}), at::ones({3, 4})), Kinds{FailureKind::Shape});
  EXPECT_FALSE(same(at::ones({4}), at::ones({3}), {}, as_pytorch));
  EXPECT_EQ(kinds(at::ones({4}), at::ones({3}).to(at::kHalf)), (Kinds{FailureKind::Shape, FailureKind::Dtype}));
}

TEST(CompareD2, ReferenceOfAnotherShapeOrStructureIsNone) {
  const IValue ref = list({floats({1}), floats({1})});
  const IValue res = list({floats({1}), floats({9})});
  const IValue short_reference = list({doubles({1})});
  EXPECT_TRUE(same(ref, res, short_reference, as_pytorch)); // compares no more than the reference has
  EXPECT_EQ(kinds(ref, res, short_reference), Kinds{FailureKind::Accuracy});
}

TEST(CompareD3, OneNanOnBothSidesDoesNotHideTheRest) {
  const at::Tensor fp64 = doubles({nan, 1});
  EXPECT_TRUE(same(floats({nan, 1}), floats({nan, 100}), fp64, as_pytorch));
  EXPECT_EQ(kinds(floats({nan, 1}), floats({nan, 100}), fp64), Kinds{FailureKind::Accuracy});
  EXPECT_EQ(kinds(floats({nan, 1}), floats({1, nan}), fp64), Kinds{FailureKind::Nan});
  EXPECT_EQ(kinds(floats({nan, 1, 1}), floats({1, nan, 9}), doubles({nan, 1, 1})),
            (Kinds{FailureKind::Nan, FailureKind::Accuracy}));
  EXPECT_EQ(kinds(floats({inf, 1}), floats({-inf, 1}), doubles({inf, 1})), Kinds{FailureKind::Nan});
}

TEST(CompareD3, AnOverflowThatBothHaveGivesTheRestNoTolerance) {
  const at::Tensor fp64 = doubles({2.688e43, 1, 2});
  EXPECT_TRUE(same(floats({inf, 1, 2}), floats({inf, 1.03, 2}), fp64, as_pytorch));
  EXPECT_EQ(kinds(floats({inf, 1, 2}), floats({inf, 1.03, 2}), fp64), Kinds{FailureKind::Accuracy});
}

TEST(CompareD3, ReferenceThatIsNoNumberIsMendedByEager) {
  const at::Tensor fp64 = doubles({nan, nan});
  EXPECT_TRUE(same(floats({1, 2}), floats({1, 200}), fp64, as_pytorch));
  EXPECT_EQ(kinds(floats({1, 2}), floats({1, 200}), fp64), Kinds{FailureKind::Accuracy});
}

TEST(CompareD4, ComplexHasAnFp64Rule) {
  const at::Tensor fp64 = at::complex(doubles({1, 2}), doubles({3, 4}));
  const at::Tensor ref = (fp64 + 0.01).to(at::kComplexFloat);
  const at::Tensor res = (fp64 - 0.01).to(at::kComplexFloat);
  EXPECT_FALSE(same(ref, res, fp64, as_pytorch));
  EXPECT_TRUE(same(ref, res, fp64, by_default));
  EXPECT_EQ(kinds(ref, (fp64 + 1).to(at::kComplexFloat), fp64), Kinds{FailureKind::Accuracy});
  EXPECT_TRUE(same(at::conj(ref), at::conj(ref), {}, by_default));
}

// --- the rule Strict -------------------------------------------------------------------------------------------------

TEST(CompareStrict, SeesOneElementOfAMillion) {
  const at::Tensor fp64 = at::zeros({1000000}, at::kDouble);
  at::Tensor res = at::zeros({1000000});
  res[123456] = 0.09;
  EXPECT_TRUE(same(at::zeros({1000000}), res, fp64, by_default));
  EXPECT_EQ(kinds(at::zeros({1000000}), res, fp64, strictly), Kinds{FailureKind::Accuracy});
}

TEST(CompareStrict, IntegersExactly) {
  EXPECT_TRUE(same(at::tensor({1000}), at::tensor({1001}), {}, by_default));
  EXPECT_EQ(kinds(at::tensor({1000}), at::tensor({1001}), {}, strictly), Kinds{FailureKind::Accuracy});
  for (const auto dtype : {at::kLong, at::kUInt64}) { // the two are one double
    const at::Tensor one = at::full({1}, std::int64_t{1} << 53, at::kLong), other = one + 1;
    EXPECT_EQ(kinds(one.view(dtype), other.view(dtype), {}, strictly), Kinds{FailureKind::Accuracy});
  }
}

TEST(CompareStrict, StridesWhereTheyMatter) {
  const at::Tensor x = at::ones({2, 3});
  EXPECT_TRUE(same(x, x.t().contiguous().t(), {}, by_default));
  EXPECT_EQ(kinds(x, x.t().contiguous().t(), {}, strictly), Kinds{FailureKind::Structure});
  EXPECT_TRUE(same(at::ones({1, 3}), at::ones({3, 1}).t(), {}, strictly));
}

TEST(CompareStrict, BoundAllowsForEagersOwnError) {
  const at::Tensor fp64 = doubles({1, 2, 3});
  const at::Tensor ref = floats({1, 2, 3.1});
  EXPECT_TRUE(same(ref, floats({1, 2.25, 3}), fp64, strictly));
  EXPECT_EQ(kinds(ref, floats({1, 2.35, 3}), fp64, strictly), Kinds{FailureKind::Accuracy});
  EXPECT_EQ(kinds(ref, floats({1, nan, 3}), fp64, strictly), Kinds{FailureKind::Nan});
  EXPECT_TRUE(same(floats({nan, inf}), floats({nan, inf}), doubles({nan, inf}), strictly));
  EXPECT_EQ(kinds(floats({inf, 1}), floats({5, 1}), doubles({inf, 1}), strictly), Kinds{FailureKind::Nan});
}

// --- reports ---------------------------------------------------------------------------------------------------------

TEST(CompareReport, SaysWhereAndByHowMuch) {
  const at::Tensor fp64 = at::zeros({4, 6}, at::kDouble);
  at::Tensor res = at::zeros({4, 6});
  res[2][3] = 1.5;
  const LeafReport leaf = wrong_leaves(list({1, at::zeros({4, 6})}), list({1, res}), list({1, fp64}), by_default).at(0);
  EXPECT_EQ(leaf.message, "[1]: float32[4, 6]: RMSE 0.306 against fp64 (eager 0, allowed 3 x + 0.0001); largest error "
                          "1.5 at [2, 3]: 0 expected, 1.5 found");
  EXPECT_EQ(leaf.worst_index, 15);
  EXPECT_EQ(leaf.multiplier, 3);
  EXPECT_EQ(leaf.max_abs_error, 1.5);
  EXPECT_EQ(leaf.ref_nan, 0);
}

TEST(CompareReport, CountsNansAndNamesTheFirst) {
  const LeafReport leaf = wrong_leaves(floats({1, 2, 3}), floats({1, nan, nan}), {}, by_default).at(0);
  EXPECT_EQ(leaf.message, "float32[3]: NaN 0 expected, 2 found, Inf 0 expected, 0 found; first at [1]: 2 expected, nan "
                          "found");
  EXPECT_EQ(leaf.res_nan, 2);
}

TEST(CompareReport, NamesOfKinds) {
  EXPECT_STREQ(to_string(FailureKind::Crash), "crash");
  EXPECT_STREQ(to_string(FailureKind::Nan), "nan");
  EXPECT_STREQ(to_string(FailureKind::Dtype), "dtype");
}

} // namespace
} // namespace repro_minify
