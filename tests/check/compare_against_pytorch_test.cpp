// Our `same` against torch._dynamo.utils.same on random pairs. same_oracle.py draws the pairs and has PyTorch answer;
// under the rule PyTorch there may be no disagreement, under the rule Default only those that D1 to D4 of
// docs/comparison.md explain.
#include "all_tests.h"
#include "check/decoder.h"
#include "check/oracle.h"
#include "repro_minify/compare.h"
#include "test_paths.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/class_type.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

namespace repro_minify {
namespace {

using c10::IValue;

struct Case {
  IValue ref, res, fp64_ref;
  CompareOptions options;
  bool answer = false; ///< PyTorch's
  bool raised = false; ///< PyTorch raised instead; answer is false then
};

// ---------------------------------------------------------------------------------------------------------------------
// Reading what same_oracle.py wrote

/// In the order of OPTION_NAMES in same_oracle.py.
CompareOptions decode_options(const std::vector<double> &settings) {
  CompareOptions options;
  options.cos_similarity = settings.at(0) != 0;
  options.tol = settings.at(1);
  options.equal_nan = settings.at(2) != 0;
  options.exact_dtype = settings.at(3) != 0;
  options.ignore_non_fp = settings.at(4) != 0;
  options.use_iou_for_bool = settings.at(5) != 0;
  options.iou_threshold = settings.at(6);
  options.use_larger_multiplier_for_smaller_tensor = settings.at(7) != 0;
  options.force_max_multiplier = settings.at(8) != 0;
  return options;
}

std::vector<Case> read_cases(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const IValue all = torch::jit::pickle_load(bytes);
  const Decoder decoder(all.toTupleRef().elements()[0].toGenericDict());
  std::vector<Case> cases;
  for (const IValue &row : all.toTupleRef().elements()[1].toListRef()) {
    const auto &parts = row.toTupleRef().elements();
    std::vector<double> settings;
    for (const IValue &setting : parts[3].toListRef())
      settings.push_back(setting.toDouble());
    cases.push_back({decoder.decode(parts[0]), decoder.decode(parts[1]), decoder.decode(parts[2]),
                     decode_options(settings), parts[4].toBool(), parts[5].toBool()});
  }
  return cases;
}

// ---------------------------------------------------------------------------------------------------------------------
// Why the rule Default may disagree: told from the inputs alone

/// The one other reason: PyTorch has no answer, and so counts as "not the same", where we have one.
const char *const raises = "PyTorch raises";

bool is_same(const IValue &ref, const IValue &res, const IValue &fp64, CompareOptions options, CompareRule rule) {
  options.rule = rule;
  return same(ref, res, fp64, options);
}

bool any_tensor(const std::vector<at::Tensor> &tensors, bool (*holds)(const at::Tensor &)) {
  for (const at::Tensor &tensor : tensors)
    if (holds(tensor))
      return true;
  return false;
}

bool has_special(const at::Tensor &tensor) {
  return !at::isfinite(tensor.is_sparse() ? tensor.to_dense() : tensor).all().item<bool>();
}
bool is_complex(const at::Tensor &tensor) {
  return tensor.is_complex();
}
bool is_sparse(const at::Tensor &tensor) {
  return tensor.is_sparse();
}

/// A tensor, a number, or a list of numbers, which PyTorch compares as a tensor; undefined for anything else.
at::Tensor as_operand(const IValue &value) {
  if (value.isTensor())
    return value.toTensor().detach();
  if (value.isScalar())
    return at::scalar_tensor(value.toScalar(), value.isComplexDouble() ? at::kComplexDouble : at::kDouble);
  if (!value.isList() && !value.isTuple())
    return {};
  std::vector<at::Tensor> parts;
  for (const IValue &part : value.isList() ? value.toListRef().vec() : value.toTupleRef().elements().vec())
    parts.push_back(as_operand(part).to(at::kComplexDouble));
  return parts.empty() ? at::zeros({0}) : at::real(at::stack(parts));
}

/// One leaf on which the two rules disagree.
std::string explain_leaf(const IValue &ref, const IValue &res, const IValue &fp64, const CompareOptions &options,
                         bool pytorch_answer) {
  std::vector<at::Tensor> tensors{as_operand(ref), as_operand(res)};
  if (!tensors[0].defined() || !tensors[1].defined())
    return "unexplained";
  if (!fp64.isNone() && !fp64.isTensor() && !fp64.isScalar())
    return "D2";
  if (!fp64.isNone())
    tensors.push_back(as_operand(fp64));
  if (tensors[0].sizes() != tensors[1].sizes())
    return pytorch_answer ? "D2" : "unexplained";
  if (tensors.back().sizes() != tensors[0].sizes())
    return "D2";
  if (any_tensor(tensors, is_complex))
    return "D4";
  tensors.push_back((is_sparse(tensors[0]) ? tensors[0].to_dense() : tensors[0]).to(tensors[1].scalar_type()));
  if (any_tensor(tensors, has_special))
    return "D3";
  if (options.ignore_non_fp && tensors[0].is_floating_point() && pytorch_answer)
    return "D1";
  const bool bool_minus = !options.exact_dtype && tensors[1].scalar_type() == at::kBool; // has no kernel
  return !pytorch_answer && (any_tensor(tensors, is_sparse) || bool_minus) ? raises : "unexplained";
}

void explain(const IValue &ref, const IValue &res, const IValue &fp64, const CompareOptions &options,
             std::set<std::string> &reasons);

/// `fp64` of another structure is a matter of D2, too.
void explain_sequence(const std::vector<IValue> &refs, const std::vector<IValue> &ress, const IValue &fp64,
                      const CompareOptions &options, std::set<std::string> &reasons) {
  std::vector<IValue> references(refs.size());
  if (fp64.isList())
    references = fp64.toListRef().vec();
  else if (fp64.isTuple())
    references = fp64.toTupleRef().elements().vec();
  if (references.size() != refs.size() || (!fp64.isNone() && !fp64.isList() && !fp64.isTuple())) {
    reasons.insert("D2");
    return;
  }
  for (std::size_t i = 0; i < refs.size(); ++i)
    explain(refs[i], ress[i], references[i], options, reasons);
}

void explain_dict(const c10::impl::GenericDict &ref, const c10::impl::GenericDict &res, const IValue &fp64,
                  const CompareOptions &options, std::set<std::string> &reasons) {
  for (const auto &item : ref) {
    if (!fp64.isNone() && !(fp64.isGenericDict() && fp64.toGenericDict().contains(item.key())))
      reasons.insert("D2");
    else
      explain(item.value(), res.at(item.key()), fp64.isNone() ? IValue() : fp64.toGenericDict().at(item.key()), options,
              reasons);
  }
}

void explain_object(const IValue &ref, const IValue &res, const IValue &fp64, CompareOptions options,
                    std::set<std::string> &reasons) {
  options.force_max_multiplier = options.use_iou_for_bool = false;
  const auto type = ref.toObjectRef().type();
  for (std::size_t i = 0; i < type->numAttributes(); ++i) {
    const std::string name = type->getAttributeName(i);
    if (!fp64.isNone() && !(fp64.isObject() && fp64.toObjectRef().type()->hasAttribute(name)))
      reasons.insert("D2");
    else
      explain(ref.toObjectRef().getSlot(i), res.toObjectRef().getAttr(name),
              fp64.isNone() ? IValue() : fp64.toObjectRef().getAttr(name), options, reasons);
  }
}

void explain(const IValue &ref, const IValue &res, const IValue &fp64, const CompareOptions &options,
             std::set<std::string> &reasons) {
  const bool pytorch_answer = is_same(ref, res, fp64, options, CompareRule::PyTorch);
  if (pytorch_answer == is_same(ref, res, fp64, options, CompareRule::Default))
    return;
  const auto parts = [](const IValue &value) {
    return value.isList() ? value.toListRef().vec() : value.toTupleRef().elements().vec();
  };
  if ((ref.isList() || ref.isTuple()) && (res.isList() || res.isTuple()))
    explain_sequence(parts(ref), parts(res), fp64, options, reasons);
  else if (ref.isGenericDict() && res.isGenericDict())
    explain_dict(ref.toGenericDict(), res.toGenericDict(), fp64, options, reasons);
  else if (ref.isObject() && res.isObject())
    explain_object(ref, res, fp64, options, reasons);
  else
    reasons.insert(explain_leaf(ref, res, fp64, options, pytorch_answer));
}

std::string reason_for(const Case &one) {
  std::set<std::string> reasons;
  explain(one.ref, one.res, one.fp64_ref, one.options, reasons);
  const bool only_raises = reasons.size() == 1 && reasons.contains(raises);
  if (reasons.empty() || reasons.contains("unexplained") || (only_raises && !one.raised))
    return "unexplained";
  std::string joined;
  for (const std::string &reason : reasons)
    joined += (joined.empty() ? "" : " + ") + reason;
  return joined;
}

std::string shown(const Case &one, std::size_t index) {
  std::ostringstream out;
  out << "case " << index << ": PyTorch says " << (one.raised ? "(raised) " : "") << one.answer << ", tol "
      << one.options.tol << " equal_nan " << one.options.equal_nan << " exact_dtype " << one.options.exact_dtype
      << " ignore_non_fp " << one.options.ignore_non_fp << " cos " << one.options.cos_similarity << " iou "
      << one.options.use_iou_for_bool;
  CompareOptions options = one.options;
  options.rule = CompareRule::PyTorch;
  std::vector<LeafReport> leaves;
  same(one.ref, one.res, one.fp64_ref, options, &leaves);
  for (const LeafReport &leaf : leaves)
    out << "\n    " << leaf.path << " " << leaf.ref_type << " / " << leaf.res_type << ": " << leaf.message;
  return out.str();
}

// ---------------------------------------------------------------------------------------------------------------------

/// Nothing, and a reason in `trouble`, where there is no Python with torch or where it fails.
std::vector<Case> draw_cases(int count, int seed, std::string &trouble, bool &skip) {
  const std::string python = test_paths::python;
  const std::string script = std::filesystem::path(test_paths::fixtures).parent_path() / "tests/check/same_oracle.py";
  const std::string file = std::filesystem::temp_directory_path() / ("same_oracle_" + std::to_string(getpid()) + ".pt");
  const auto [output, status] = run_shell("'" + python + "' '" + script + "' '" + file + "' " + std::to_string(count) +
                                          " " + std::to_string(seed));
  skip = status == 77 || status == 127 || python.empty();
  trouble = python.empty() ? "no Python with torch was given to the build" : status == 0 ? "" : python + ": " + output;
  at::set_num_threads(1); // two threads on a tensor of ten elements only wait for each other
  std::vector<Case> cases = status == 0 ? read_cases(file) : std::vector<Case>();
  std::filesystem::remove(file);
  return cases;
}

#define DRAW_CASES_OR_SKIP(cases, count, seed)                                                                         \
  std::string trouble;                                                                                                 \
  bool skip = false;                                                                                                   \
  const std::vector<Case> cases = draw_cases(count, seed, trouble, skip);                                              \
  if (skip)                                                                                                            \
    GTEST_SKIP() << trouble;                                                                                           \
  ASSERT_EQ(cases.size(), static_cast<std::size_t>(count)) << trouble

TEST(CompareAgainstPyTorch, AgreesOnRandomPairsButForTheDocumentedDifferences) {
  DRAW_CASES_OR_SKIP(cases, how_many(2400, 24000), 1);
  std::map<std::string, std::array<int, 2>> differences; // reason -> how often {only we, only PyTorch} say "the same"
  int same_count = 0;
  int raised_count = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case &one = cases[i];
    same_count += one.answer ? 1 : 0;
    raised_count += one.raised ? 1 : 0;
    EXPECT_EQ(is_same(one.ref, one.res, one.fp64_ref, one.options, CompareRule::PyTorch), one.answer) << shown(one, i);
    if (is_same(one.ref, one.res, one.fp64_ref, one.options, CompareRule::Default) == one.answer)
      continue;
    const std::string reason = reason_for(one);
    EXPECT_NE(reason, "unexplained") << shown(one, i);
    ++differences[reason][one.answer ? 1 : 0];
  }
  const int pairs = static_cast<int>(cases.size());
  EXPECT_GE(same_count, pairs / 4);
  EXPECT_LE(same_count, pairs * 3 / 4);
  EXPECT_GE(raised_count, pairs / 40);
  int explained = 0;
  for (const auto &[reason, counts] : differences)
    explained += counts[0] + counts[1];
  EXPECT_LE(explained, pairs * 3 / 20) << "a reason explains what is none";
  for (const char *reason : {"D1", "D2", "D3", "D4"})
    EXPECT_TRUE(differences.contains(reason)) << reason << " was not tried";
  std::cout << cases.size() << " pairs: PyTorch says the same to " << same_count << ", raises for " << raised_count
            << "\nrule Default disagrees because of   only PyTorch says the same   only we say the same\n";
  for (const auto &[reason, counts] : differences)
    std::printf("  %-33s %24d %22d\n", reason.c_str(), counts[1], counts[0]);
}

/// Reports are for people, but the answer must not depend on whether they are asked for.
TEST(CompareAgainstPyTorch, ReportsDoNotChangeTheAnswer) {
  DRAW_CASES_OR_SKIP(cases, how_many(300, 3000), 2);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case &one = cases[i];
    for (const CompareRule rule : {CompareRule::Default, CompareRule::PyTorch, CompareRule::Strict}) {
      CompareOptions options = one.options;
      options.rule = rule;
      std::vector<LeafReport> leaves;
      const bool answer = same(one.ref, one.res, one.fp64_ref, options, &leaves);
      EXPECT_EQ(answer, same(one.ref, one.res, one.fp64_ref, options)) << shown(one, i);
      bool all_leaves = true;
      for (const LeafReport &leaf : leaves) {
        all_leaves &= leaf.same;
        EXPECT_EQ(leaf.same, leaf.kinds.empty()) << shown(one, i);
        EXPECT_EQ(leaf.same, leaf.message.empty()) << shown(one, i);
        EXPECT_TRUE(std::is_sorted(leaf.kinds.begin(), leaf.kinds.end())) << shown(one, i);
        EXPECT_EQ(leaf.message.find('\n'), std::string::npos) << leaf.message;
      }
      EXPECT_EQ(answer, all_leaves) << shown(one, i);
    }
  }
}

} // namespace
} // namespace repro_minify
