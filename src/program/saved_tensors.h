// Tensors as torch.save writes them: the name of a function of torch._utils, and what it is to be given.
#pragma once
#include "program/saved_values.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>

namespace repro_minify {

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
