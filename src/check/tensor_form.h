// The form of a compared value: facts that reports and passes can use. Internal to src/check and what is above it.
#pragma once
#include "repro_minify/compare.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>

namespace repro_minify {

TensorForm form_of(const at::Tensor &tensor);
/// The form of a tensor or a number; nothing for any other value.
std::optional<TensorForm> form_of(const c10::IValue &value);

/// True if elements lie in another order or at other distances. A size-1 dimension's stride, and every stride of an
/// empty tensor, has no effect on anything; a layout without strides differs in none.
bool strides_differ(const TensorForm &ref, const TensorForm &res);

} // namespace repro_minify
