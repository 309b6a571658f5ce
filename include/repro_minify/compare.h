// `same`: are two results equal as far as the accuracy check is concerned? The rules are those of
// torch._dynamo.utils.same in PyTorch 2.13.0, with the differences D1 to D4 of docs/comparison.md.
#pragma once
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

// The words of a Signature that are the same for every part of the project.

/// The kinds of failure, from the most to the least telling: where a comparison finds several, the first of these names
/// it. `Interesting` is what a program of the user's own finds (--oracle): it does not say why.
enum class FailureKind {
  Crash,
  Hang,
  Memory,
  Exception,
  Structure,
  Shape,
  Nan,
  Gradient,
  Accuracy,
  Dtype,
  Interesting
};
const char *to_string(FailureKind kind);
/// The kind of that name. Throws std::invalid_argument.
FailureKind failure_kind_from(const std::string &name);
/// True if the kind means that the optimised run ended and its results are wrong.
bool is_comparison(FailureKind kind);

enum class CompareRule {
  Default, ///< PyTorch's rules with D1 to D4
  PyTorch, ///< exactly what torch._dynamo.utils.same answers
  Strict,  ///< integers and bools exactly, strides and device too, every single element of a float result bounded
  Close,   ///< torch.testing.assert_close: against eager alone
  Exact,   ///< bit for bit, but that any NaN equals any other; strides too
};

/// Under cos_similarity, two results whose directions have at least this cosine are the same.
inline constexpr double least_cosine = 0.99;

/// Parameters and defaults of `same`; the accuracy check changes some (see accuracy_check_options).
struct CompareOptions {
  CompareRule rule = CompareRule::Default;
  bool cos_similarity = false;
  double tol = 1e-4;
  bool tol_by_dtype = false; ///< Close: assert_close's own tolerances, by dtype, in the place of tol
  bool equal_nan = false;
  bool exact_dtype = true;
  bool ignore_non_fp = false;
  bool use_larger_multiplier_for_smaller_tensor = false;
  bool force_max_multiplier = false;
  bool use_iou_for_bool = false;
  double iou_threshold = 0.99;
};

/// Returns the options of the accuracy check: tol 1e-3 (PyTorch's repro tolerance), equal_nan.
CompareOptions accuracy_check_options();
/// True if float64 has a say in what is the same under this rule.
bool has_arbiter(CompareRule rule);
/// Returns the name that the command line uses: "default".
const char *to_string(CompareRule rule);

/// A tensor as it was compared. A Python number has the form of the 0-d tensor that holds it: float64 for a float.
struct TensorForm {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides; ///< empty for a layout that has none
  std::string device = "cpu";        ///< "cuda:0"
  std::string layout = "Strided";    ///< as c10 prints it

  bool operator==(const TensorForm &) const = default;
};

/// One compared leaf (a tensor, a number, a string, ...), in the order of the values. Numbers that do not apply are NaN
/// / -1.
struct LeafReport {
  std::string path;  ///< where in the value: "", "[0]", "[1]['logits']", ".field"
  int argument = -1; ///< of a gradient or a state: which argument it is of; -1 for a parameter or a buffer
  bool same = true;
  /// Every kind of wrongness this leaf shows (dtype and accuracy may come together: then values were compared after a
  /// cast); empty when same. Never Gradient: the caller knows what it compares.
  std::vector<FailureKind> kinds;
  std::string message;                                             ///< one line for a person; empty when same
  std::string ref_type, res_type;                                  ///< "float32[2, 3]", "int", "None", for a person
  std::optional<TensorForm> ref_form, res_form;                    ///< nothing for what is no tensor and no number
  double ref_error = std::numeric_limits<double>::quiet_NaN();     ///< RMSE of ref against the fp64 reference
  double res_error = std::numeric_limits<double>::quiet_NaN();     ///< RMSE of res against the fp64 reference
  double ref_max_error = std::numeric_limits<double>::quiet_NaN(); ///< largest |ref - fp64|; rule Strict only
  double multiplier = std::numeric_limits<double>::quiet_NaN();
  /// Not close by assert_close's tolerances, and nearer to the fp64 reference than eager is. May be the same even so.
  bool nearer_to_fp64 = false;
  double max_abs_error = std::numeric_limits<double>::quiet_NaN(); ///< largest |ref - res| over finite elements
  double max_rel_error = std::numeric_limits<double>::quiet_NaN();
  std::int64_t worst_index = -1; ///< flat (row-major) index of max_abs_error
  double ref_at_worst = std::numeric_limits<double>::quiet_NaN();
  double res_at_worst = std::numeric_limits<double>::quiet_NaN();
  std::int64_t ref_nan = -1, ref_inf = -1, res_nan = -1, res_inf = -1; ///< counts
  /// The first place where one side alone has a NaN or an infinity, or one of the other sign; -1 without one.
  std::int64_t special_index = -1;
  double ref_special = 0, res_special = 0; ///< what is there
};

/// Compares lists, tuples, dicts, objects, tensors (dense, sparse, any dtype) and plain values. Never throws for a
/// mismatch of any sort. `fp64_ref` absent: ref itself takes its place, as in PyTorch. Every leaf is appended to
/// `leaves` when it is given (comparison then goes on after the first mismatch). Runs tensor arithmetic: call it in a
/// sandbox child.
bool same(const c10::IValue &ref, const c10::IValue &res, const std::optional<c10::IValue> &fp64_ref,
          const CompareOptions &options, std::vector<LeafReport> *leaves = nullptr);

} // namespace repro_minify
