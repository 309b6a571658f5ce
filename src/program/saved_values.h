// From what a pickle says to values: tensors of every kind, and lists, tuples and dicts of what TorchScript takes.
#pragma once

#include "program/pickle.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <optional>
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

// Tensors as torch.save writes them: the name of a function of torch._utils, and what it is to be given.

/// The dtype that `torch.float32` names; nothing for another name.
std::optional<at::ScalarType> dtype_of(const pickle::Value &global);

/// How many elements its storage has to have for a tensor as torch._utils rebuilds it. Throws pickle::CannotRead.
int64_t elements_needed(const pickle::Value &tensor);

class SavedTensors {
public:
  explicit SavedTensors(const StorageBytes &bytes) : bytes_(bytes) {}
  /// The tensor that an Object stands for, the same each time; null for an object of another kind. Throws
  /// pickle::CannotRead for a tensor that is damaged or has no values here.
  const at::Tensor *of(const pickle::Value &object);

private:
  using Arguments = std::vector<const pickle::Value *>;
  std::optional<at::Tensor> made(const pickle::Value &object);
  at::Tensor strided(const Arguments &arguments, std::optional<at::ScalarType> dtype);
  at::Tensor quantised(const Arguments &arguments);
  at::Tensor sparse(const Arguments &arguments);
  at::Tensor parameter(const Arguments &arguments);
  at::Tensor required(const pickle::Value &value);
  const c10::Storage &storage(const std::string &key);

  const StorageBytes &bytes_;
  std::map<const pickle::Value *, at::Tensor> made_;
  std::map<std::string, c10::Storage> storages_;
  int depth_ = 0; ///< of tensors made of tensors
};

} // namespace repro_minify
