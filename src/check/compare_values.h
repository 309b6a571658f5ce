// Plain values (numbers, strings, dict keys) as Python's torch sees them. Internal to src/check.
#pragma once

#include "program/values.h"
#include "repro_minify/compare.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// "float32[2, 3]", "int", "None", "list of 3", ...: one word for what a value is.
std::string type_name(const c10::IValue &value);

/// An undefined tensor is how C++ says None.
bool is_none(const c10::IValue &value);

/// Python's `==`: True equals 1 equals 1.0 equals a tensor that holds a single 1. False where Python raises.
bool equal_in_python(const c10::IValue &a, const c10::IValue &b);

/// torch.tensor(value), a tensor being itself: a float is a float32, so is an empty list. Nothing where that raises.
std::optional<at::Tensor> as_tensor(const c10::IValue &value);

using DictItems = std::vector<std::pair<c10::IValue, c10::IValue>>;

/// The items of a dict in the order that Python sorts their keys in.
DictItems sorted_items(const c10::IValue &dict);

/// Looks a key up in sorted items.
std::optional<c10::IValue> find_key(const DictItems &items, const c10::IValue &key);

/// A plain value as a person reads it, a long text shortened; of anything else its type.
std::string text_of_value(const c10::IValue &value);
/// "3 (int)"; of what is no plain value its type.
std::string text_and_type_of(const c10::IValue &value);

/// A key as it stands between brackets: 'a' or 3.
std::string key_text(const c10::IValue &key);

// The form of a compared value: facts that reports and passes can use. Internal to src/check and what is above it.

TensorForm form_of(const at::Tensor &tensor);
/// The form of a tensor or a number; nothing for any other value.
std::optional<TensorForm> form_of(const c10::IValue &value);

/// True if elements lie in another order or at other distances. A size-1 dimension's stride, and every stride of an
/// empty tensor, has no effect on anything; a layout without strides differs in none.
bool strides_differ(const TensorForm &ref, const TensorForm &res);

} // namespace repro_minify
