// Copies of values that keep what matters to a failing program: strides, storage offsets, requires_grad, and which
// tensors share storage.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/ScalarType.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace repro_minify {

struct CloneOptions {
  bool requires_grad = true;     ///< keep requires_grad; false clears it
  bool double_precision = false; ///< floating tensors to float64, complex ones to complex128, floats stay floats
  std::optional<c10::Device> device = std::nullopt; ///< where the copies are; nothing: where the originals are
};

/// Clones values; tensors that share a storage (at the same version of its contents) when they are cloned by the same
/// cloner share one afterwards. Lists, tuples, dicts and objects' contents are copied, other values are returned as
/// they are.
class SharedCloner {
public:
  explicit SharedCloner(CloneOptions options = {}) : options_(options) {}
  c10::IValue clone(const c10::IValue &value);
  at::Tensor clone(const at::Tensor &tensor);
  /// For who knows of a write that no version counter tells: the next clone of what lives there has other memory.
  void forget(void *storage);

private:
  CloneOptions options_;
  std::map<std::pair<void *, int64_t>, at::Tensor> storages_;
  std::vector<at::Tensor> kept_alive_; ///< so that no storage address is used twice
};

/// Visits the tensors among the leaves of flatten_value() that are defined.
void for_each_tensor(const c10::IValue &value, const std::function<void(const at::Tensor &)> &visit);
/// Lists, tuples and dicts (nested, in their own order) to their leaves; other values are leaves.
void flatten_value(const c10::IValue &value, std::vector<c10::IValue> &leaves);

/// A version counter that can be read for every tensor (0 where there is none).
int64_t version_of(const at::Tensor &tensor);
/// Identifies the memory a tensor lives in; null for one without storage.
void *storage_of(const at::Tensor &tensor);

/// "float32[2, 3]", "int", "None", "List[Tensor]": for people.
std::string describe(const c10::IValue &value);
/// "float32", "int64", "bool": PyTorch's Python names.
std::string dtype_name(at::ScalarType type);

// Makes the same change to every tensor in a value.

/// The value with every tensor in it, undefined ones too, replaced by what `change` makes of it: depth first, in
/// lists, tuples and the values of dicts.
c10::IValue map_tensors(const c10::IValue &value, const std::function<at::Tensor(const at::Tensor &)> &change);

// The way back from the name of a dtype, as dtype_name() of values.h has it.

/// The dtype of which `name` is the dtype_name(): "float32" gives kFloat. Nothing where there is none.
std::optional<c10::ScalarType> dtype_named(const std::string &name);

/// The distance from 1 to the next number of a dtype of real numbers of 16 bits or more; nothing for any other.
std::optional<double> rounding_unit(c10::ScalarType dtype);

// Values as bytes and back: what one process of ours hands to another.

/// Undefined tensors included; tensors that share storage still do when they are back. Throws c10::Error for what the
/// pickler does not take.
std::vector<char> pickled(const c10::IValue &value);
/// Throws c10::Error.
c10::IValue unpickled(std::string_view bytes);

/// True if a cut would make the same input of either value. Values that cannot be compared count as different.
bool same_contents(const c10::IValue &a, const c10::IValue &b);

// Objects of C++ classes, such as the packed parameters of a quantised operator: values without attributes that a graph
// could read.

bool is_opaque_class(const c10::TypePtr &type);
bool is_opaque_object(const c10::IValue &value);

/// Returns a digest of the object's content, as far as the object can say what that is; empty where it cannot.
const std::string &digest_of_object(const c10::IValue &object);

} // namespace repro_minify
