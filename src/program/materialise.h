// Turns a concrete value into graph values: a tensor becomes a graph input, anything else a constant or the
// construction of one (a list of tensors is built from inputs).
#pragma once
#include "repro_minify/program.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace repro_minify {

/// Thrown when a value has no form in a graph (a custom class, a generator): whoever needs it must keep what makes it.
class CannotMaterialise : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Appends inputs to a Program that is being built. New nodes go to the graph's current insert point.
class InputBuilder {
public:
  explicit InputBuilder(Program &program) : program_(program) {}

  /// A tensor inside `value` becomes an input with this role and a name made from `name`.
  torch::jit::Value *materialise(const c10::IValue &value, const c10::TypePtr &type, Role role,
                                 const std::string &name);
  /// A new tensor input.
  torch::jit::Value *add_tensor(const c10::IValue &value, Role role, const std::string &name,
                                const std::string &formula = "");

private:
  std::string unique_identifier(const std::string &name);

  Program &program_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> last_suffix_; ///< the last number that was tried behind a name
};

/// Whether a value of this type can be cut, seen from its type alone (tensors, numbers, strings, None, and containers
/// of them).
bool can_materialise(const c10::IValue &value);

} // namespace repro_minify
