// From what a pickle says to values: tensors of every kind, and lists, tuples and dicts of what TorchScript takes.
#pragma once
#include "inputs/pickle/array.h"
#include "inputs/pickle/value.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>

namespace repro_minify {

/// The bytes of a storage by its key: memory of its own. Throws pickle::CannotRead where there is none.
using StorageBytes = std::function<c10::Storage(const std::string &key)>;

/// Tensors are on the CPU, wherever they were, and share memory where they did. Throws pickle::CannotRead, which says
/// what cannot be had.
c10::IValue to_values(const pickle::Value &root, const StorageBytes &storage);

at::Tensor to_tensor(const pickle::Array &array);

/// `size` bytes, copied.
c10::Storage storage_with(std::string_view bytes);

} // namespace repro_minify
