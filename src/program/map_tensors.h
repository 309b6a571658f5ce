// Makes the same change to every tensor in a value.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>

namespace repro_minify {

/// The value with every tensor in it, undefined ones too, replaced by what `change` makes of it: depth first, in
/// lists, tuples and the values of dicts.
c10::IValue map_tensors(const c10::IValue &value, const std::function<at::Tensor(const at::Tensor &)> &change);

} // namespace repro_minify
