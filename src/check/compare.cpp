// The walk through the structure of two values; the leaves are compared in compare_tensors.cpp and compare_values.cpp.
#include "repro_minify/compare.h"

#include "check/compare_tensors.h"
#include "check/compare_values.h"

#include <ATen/ATen.h>
#include <ATen/core/class_type.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace repro_minify {
namespace {

using c10::IValue;

bool is_sequence(const IValue &value) {
  return value.isList() || value.isTuple();
}

c10::ArrayRef<IValue> elements(const IValue &sequence) {
  if (sequence.isList())
    return sequence.toListRef();
  return sequence.toTupleRef().elements();
}

/// Python's iteration over whatever stands where the fp64 reference of a sequence should be. Nothing where it raises.
std::optional<std::vector<IValue>> iterate(const IValue &value) {
  if (is_sequence(value))
    return elements(value).vec();
  std::vector<IValue> found;
  if (value.isTensor() && value.toTensor().dim() > 0) {
    for (const at::Tensor &row : value.toTensor().unbind(0))
      found.emplace_back(row);
  } else if (value.isString()) {
    for (const char letter : value.toStringRef())
      found.emplace_back(std::string(1, letter));
  } else if (value.isGenericDict()) {
    for (const auto &item : value.toGenericDict())
      found.push_back(item.key());
  } else {
    return std::nullopt;
  }
  return found;
}

/// A leaf's place, and what stands there on either side.
LeafReport described(const IValue &ref, const IValue &res, const std::string &path) {
  LeafReport report;
  report.path = path;
  report.ref_type = type_name(ref);
  report.res_type = type_name(res);
  report.ref_form = form_of(ref);
  report.res_form = form_of(res);
  return report;
}

/// One comparison: the options, and where the findings go.
class LeafWalk {
public:
  LeafWalk(const CompareOptions &options, std::vector<LeafReport> *leaves) : options_(options), leaves_(leaves) {}

  /// `fp64` None: there is no reference for this value, so the eager result stands in for it.
  bool compare(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path);

private:
  bool pytorch() const { return options_.rule == CompareRule::PyTorch; }
  bool strict() const { return options_.rule == CompareRule::Strict; }
  /// Close or Exact: numbers are of the same type, a number is no 0-d tensor.
  bool by_element() const { return !has_arbiter(options_.rule); }
  /// assert_close gives integers no tolerance of their own, but takes one that is given.
  bool int_has_tolerance() const { return options_.rule == CompareRule::Close && !options_.tol_by_dtype; }

  bool compare_sequences(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path);
  bool compare_dicts(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path);
  bool compare_objects(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path);
  bool compare_numbers(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path);
  TensorVerdict compare_two(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64) const;
  bool compare_tensor_leaf(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64, LeafReport report);
  bool compare_plain(const IValue &ref, const IValue &res, const std::string &path);

  std::optional<std::vector<IValue>> sequence_references(const IValue &fp64, std::size_t size) const;
  std::optional<IValue> dict_reference(const IValue &fp64, const DictItems &items, const IValue &key) const;

  bool leaf(LeafReport report);
  bool mismatch(const IValue &ref, const IValue &res, const std::string &path, FailureKind kind,
                const std::string &reason);

  /// True if the walk goes on after a mismatch, which it does only where the caller wants a report on every leaf.
  bool goes_on() const { return leaves_ != nullptr; }

  CompareOptions options_;
  std::vector<LeafReport> *leaves_;
  int depth_ = 0;
};

bool LeafWalk::leaf(LeafReport report) {
  const bool same = report.same;
  if (leaves_ != nullptr)
    leaves_->push_back(std::move(report));
  return same;
}

bool LeafWalk::mismatch(const IValue &ref, const IValue &res, const std::string &path, FailureKind kind,
                        const std::string &reason) {
  LeafReport report = described(ref, res, path);
  report.same = false;
  report.kinds = {kind};
  if (ref.isInt() && res.isInt()) {
    report.ref_at_worst = static_cast<double>(ref.toInt());
    report.res_at_worst = static_cast<double>(res.toInt());
    report.max_abs_error = std::abs(report.ref_at_worst - report.res_at_worst);
    report.worst_index = 0;
  }
  report.message = (path.empty() ? "" : path + ": ") + reason;
  return leaf(std::move(report));
}

bool LeafWalk::compare(const IValue &ref, const IValue &res, const IValue &fp64_or_none, const std::string &path) {
  const IValue &fp64 = is_none(fp64_or_none) ? ref : fp64_or_none;
  constexpr int deepest = 900; // Python's own limit; an object may hold itself
  if (depth_ >= deepest)
    return mismatch(ref, res, path, FailureKind::Structure, "nested too deep to compare");
  ++depth_;
  bool same = false;
  if (is_none(ref))
    same = compare_plain(ref, res, path);
  else if (is_sequence(ref))
    same = compare_sequences(ref, res, fp64, path);
  else if (ref.isGenericDict())
    same = compare_dicts(ref, res, fp64, path);
  else if (ref.isObject())
    same = compare_objects(ref, res, fp64, path);
  else if (ref.isTensor() || ref.isDouble() || (ref.isComplexDouble() && !pytorch()) ||
           (ref.isInt() && res.isInt() && int_has_tolerance()))
    same = compare_numbers(ref, res, fp64, path);
  else
    same = compare_plain(ref, res, path);
  --depth_;
  return same;
}

/// PyTorch zips with whatever the reference is, and so compares only as many elements as it has. Otherwise a reference
/// of another structure is none (D2).
std::optional<std::vector<IValue>> LeafWalk::sequence_references(const IValue &fp64, std::size_t size) const {
  if (pytorch())
    return iterate(fp64);
  if (is_sequence(fp64) && elements(fp64).size() == size)
    return elements(fp64).vec();
  return std::vector<IValue>(size);
}

bool LeafWalk::compare_sequences(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path) {
  if (!is_sequence(res) || (strict() && ref.isList() != res.isList()))
    return mismatch(ref, res, path, FailureKind::Structure, type_name(ref) + " expected, " + type_name(res) + " found");
  const c10::ArrayRef<IValue> refs = elements(ref);
  const c10::ArrayRef<IValue> ress = elements(res);
  if (refs.size() != ress.size())
    return mismatch(ref, res, path, FailureKind::Structure, type_name(ref) + " expected, " + type_name(res) + " found");
  const std::optional<std::vector<IValue>> references = sequence_references(fp64, refs.size());
  if (!references)
    return mismatch(ref, res, path, FailureKind::Structure, "the fp64 reference is no sequence");
  bool same = true;
  for (std::size_t i = 0; i < std::min(refs.size(), references->size()) && (same || goes_on()); ++i)
    same &= compare(refs[i], ress[i], (*references)[i], path + "[" + std::to_string(i) + "]");
  return same;
}

/// Returns fp64_ref[key], whatever fp64_ref is: nothing where PyTorch raises, otherwise None where there is none.
std::optional<IValue> LeafWalk::dict_reference(const IValue &fp64, const DictItems &items, const IValue &key) const {
  if (fp64.isGenericDict()) {
    const std::optional<IValue> found = find_key(items, key);
    return found || pytorch() ? found : std::optional(IValue());
  }
  if (!pytorch())
    return IValue();
  const std::optional<std::vector<IValue>> parts = iterate(fp64);
  if (!parts || !key.isInt())
    return std::nullopt;
  const auto size = static_cast<std::int64_t>(parts->size());
  const std::int64_t index = key.toInt() < 0 ? key.toInt() + size : key.toInt();
  return index >= 0 && index < size ? std::optional((*parts)[static_cast<std::size_t>(index)]) : std::nullopt;
}

bool LeafWalk::compare_dicts(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path) {
  if (!res.isGenericDict())
    return mismatch(ref, res, path, FailureKind::Structure, type_name(ref) + " expected, " + type_name(res) + " found");
  const DictItems refs = sorted_items(ref);
  const DictItems ress = sorted_items(res);
  for (const auto &[key, value] : refs)
    if (!find_key(ress, key))
      return mismatch(ref, res, path, FailureKind::Structure, "key " + key_text(key) + " is missing");
  for (const auto &[key, value] : ress)
    if (!find_key(refs, key))
      return mismatch(ref, res, path, FailureKind::Structure, "key " + key_text(key) + " was not expected");
  const DictItems references = fp64.isGenericDict() ? sorted_items(fp64) : DictItems();
  bool same = true;
  for (const auto &[key, value] : refs) {
    const std::string place = path + "[" + key_text(key) + "]";
    const std::optional<IValue> reference = dict_reference(fp64, references, key);
    if (reference)
      same &= compare(value, *find_key(ress, key), *reference, place);
    else
      same = mismatch(value, value, place, FailureKind::Structure, "the fp64 reference has no such key");
    if (!same && !goes_on())
      break;
  }
  return same;
}

/// torch._dynamo.utils.same() of the PyTorch that this is built against.
constexpr bool hands_all_down_to_attributes = TORCH_VERSION_MAJOR > 2 ||
                                              (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 14);

bool LeafWalk::compare_objects(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path) {
  if (!res.isObject() || type_name(ref) != type_name(res))
    return mismatch(ref, res, path, FailureKind::Structure, type_name(ref) + " expected, " + type_name(res) + " found");
  const auto type = ref.toObjectRef().type();
  const CompareOptions outside = options_;
  if (!hands_all_down_to_attributes) {
    options_.force_max_multiplier = options_.use_iou_for_bool = false;
    options_.iou_threshold = CompareOptions().iou_threshold;
  }
  bool same = true;
  for (std::size_t i = 0; i < type->numAttributes() && (same || goes_on()); ++i) {
    const std::string &name = type->getAttributeName(i);
    const auto has_attribute = [&](const IValue &value) {
      return value.isObject() && value.toObjectRef().type()->findAttributeSlot(name).has_value();
    };
    if (!has_attribute(res) || (pytorch() && !has_attribute(fp64)))
      same = mismatch(ref, res, path, FailureKind::Structure, "attribute " + name + " is missing");
    else
      same &= compare(ref.toObjectRef().getSlot(i), res.toObjectRef().getAttr(name),
                      has_attribute(fp64) ? fp64.toObjectRef().getAttr(name) : IValue(), path + "." + name);
  }
  options_ = outside;
  return same;
}

bool LeafWalk::compare_numbers(const IValue &ref, const IValue &res, const IValue &fp64, const std::string &path) {
  const std::optional<at::Tensor> ref_tensor = as_tensor(ref);
  const std::optional<at::Tensor> res_tensor = as_tensor(res);
  std::optional<at::Tensor> fp64_tensor = as_tensor(fp64);
  if (!fp64_tensor && !pytorch())
    fp64_tensor = ref_tensor;
  const bool other_sort = ref.isTensor() != res.isTensor() || (by_element() && res.isList() + res.isTuple() > 0);
  if (!ref_tensor || !res_tensor || !fp64_tensor || ((strict() || by_element()) && other_sort))
    return mismatch(ref, res, path, FailureKind::Structure,
                    text_and_type_of(ref) + " expected, " + text_and_type_of(res) + " found");
  const auto wide = [this](const IValue &value, const at::Tensor &tensor) {
    if (by_element() && value.isComplexDouble())
      return at::scalar_tensor(value.toComplexDouble(), at::kComplexDouble);
    return (strict() || by_element()) && value.isDouble() ? at::scalar_tensor(value.toDouble(), at::kDouble) : tensor;
  };
  return compare_tensor_leaf(wide(ref, *ref_tensor), wide(res, *res_tensor), wide(fp64, *fp64_tensor),
                             described(ref, res, path));
}

TensorVerdict LeafWalk::compare_two(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64) const {
  if (!by_element())
    return compare_tensors(ref, res, fp64, options_, goes_on());
  TensorVerdict verdict = compare_close(ref, res, options_);
  if (goes_on())
    measure(ref, res, fp64, options_, verdict);
  return verdict;
}

bool LeafWalk::compare_tensor_leaf(const at::Tensor &ref, const at::Tensor &res, const at::Tensor &fp64,
                                   LeafReport report) {
  if (pytorch() && !goes_on())
    return same_as_pytorch_answers(ref, res, fp64, options_);
  const TensorVerdict verdict = compare_two(ref, res, fp64);
  report.same = pytorch() ? same_as_pytorch_answers(ref, res, fp64, options_) : verdict.same;
  if (!goes_on())
    return report.same;
  report.ref_error = verdict.ref_error;
  report.res_error = verdict.res_error;
  report.ref_max_error = verdict.ref_max_error;
  report.multiplier = verdict.multiplier;
  std::string reason = verdict.message;
  if (!report.same) {
    report.kinds = verdict.kinds;
    if (report.kinds.empty()) { // only PyTorch minds: it raises, or has no fp64 rule for this
      report.kinds = {FailureKind::Accuracy};
      reason = "not the same to PyTorch";
    }
  }
  try {
    add_statistics(ref, res, report);
    report.nearer_to_fp64 = report.res_error < report.ref_error && !are_close(ref, res);
    if (!report.same)
      report.message = difference_message(ref, reason, report);
  } catch (const std::exception &error) { // what cannot be compared cannot be measured either
    unless_out_of_memory(error);
    report.message = report.same ? "" : (report.path.empty() ? "" : report.path + ": ") + reason;
  }
  return leaf(std::move(report));
}

bool LeafWalk::compare_plain(const IValue &ref, const IValue &res, const std::string &path) {
  const bool known = is_none(ref) || ref.isString() || ref.isInt() || ref.isBool() || ref.isDevice();
  const bool one_type = type_name(ref) == type_name(res);
  bool same = equal_in_python(ref, res) && (one_type || !(strict() || by_element()));
  if (known)
    same |= options_.ignore_non_fp;
  else if (pytorch())
    same = false; // it raises: unsupported type
  if (!same && one_type)
    return mismatch(ref, res, path, FailureKind::Accuracy,
                    text_of_value(ref) + " expected, " + text_of_value(res) + " found");
  if (!same)
    return mismatch(ref, res, path, FailureKind::Structure,
                    text_and_type_of(ref) + " expected, " + text_and_type_of(res) + " found");
  return leaf(described(ref, res, path));
}

} // namespace

CompareOptions accuracy_check_options() {
  CompareOptions options;
  options.tol = 1e-3;
  options.equal_nan = true;
  return options;
}

bool has_arbiter(CompareRule rule) {
  return rule != CompareRule::Close && rule != CompareRule::Exact;
}

const char *to_string(CompareRule rule) {
  constexpr const char *names[] = {"default", "pytorch", "strict", "close", "exact"};
  return names[static_cast<int>(rule)];
}

bool same(const c10::IValue &ref, const c10::IValue &res, const std::optional<c10::IValue> &fp64_ref,
          const CompareOptions &options, std::vector<LeafReport> *leaves) {
  try {
    return LeafWalk(options, leaves).compare(ref, res, fp64_ref.value_or(IValue()), "");
  } catch (const std::exception &error) { // a value of a kind that even iterating over fails for
    LeafReport report;
    report.same = false;
    report.kinds = {FailureKind::Structure};
    report.message = unless_out_of_memory(error);
    if (leaves != nullptr)
      leaves->push_back(std::move(report));
    return false;
  }
}

} // namespace repro_minify
