#include "check/tensor_form.h"

#include "check/compare_values.h"

#include <algorithm>
#include <sstream>

namespace repro_minify {
namespace {

std::string layout_name(at::Layout layout) {
  std::ostringstream out;
  out << layout;
  return out.str();
}

TensorForm form_of_number(c10::ScalarType dtype) {
  TensorForm form;
  form.dtype = dtype;
  return form;
}

} // namespace

TensorForm form_of(const at::Tensor &tensor) {
  TensorForm form;
  form.dtype = tensor.scalar_type();
  form.sizes = tensor.sizes().vec();
  form.layout = layout_name(tensor.layout());
  if (tensor.layout() == at::kStrided)
    form.strides = tensor.strides().vec();
  form.device = tensor.device().str();
  return form;
}

std::optional<TensorForm> form_of(const c10::IValue &value) {
  if (is_none(value))
    return std::nullopt;
  if (value.isTensor())
    return form_of(value.toTensor());
  if (value.isDouble())
    return form_of_number(at::kDouble);
  if (value.isComplexDouble())
    return form_of_number(at::kComplexDouble);
  if (value.isBool())
    return form_of_number(at::kBool);
  return value.isInt() ? std::optional(form_of_number(at::kLong)) : std::nullopt;
}

bool strides_differ(const TensorForm &ref, const TensorForm &res) {
  if (ref.sizes.size() != ref.strides.size() || ref.sizes != res.sizes || ref.strides.size() != res.strides.size() ||
      std::find(ref.sizes.begin(), ref.sizes.end(), 0) != ref.sizes.end())
    return false;
  for (std::size_t dim = 0; dim < ref.sizes.size(); ++dim)
    if (ref.sizes[dim] > 1 && ref.strides[dim] != res.strides[dim])
      return true;
  return false;
}

} // namespace repro_minify
