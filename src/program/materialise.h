// Turns a concrete value into graph values: a tensor becomes a graph input, anything else a constant or the
// construction of one (a list of tensors is built from inputs).
#pragma once
#include "program/graph.h"
#include "repro_minify/program.h"

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace repro_minify {

/// Thrown when a value has no form in a graph (a custom class, a generator): a cut that needs it must keep what makes
/// it.
class CannotMaterialise : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Names that are given once. Never given back: what was tried once need not be tried again.
class Identifiers {
public:
  /// Made from `name`, unlike all before, and unlike those of `others`.
  std::string unique(const std::string &name, const Identifiers *others = nullptr);
  void take(const std::string &identifier) { names_.insert(identifier); }
  size_t size() const { return names_.size(); }

private:
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> last_suffix_; ///< the last number that was tried behind a name
};

/// Appends inputs to a Program that is being built. New nodes go to the graph's current insert point.
class InputBuilder {
public:
  /// `taken`: names that new ones may not have.
  explicit InputBuilder(Program &program, const Identifiers *taken = nullptr) : program_(program), taken_(taken) {}

  /// A tensor inside `value` becomes an input with this role and a name made from `name`.
  Value *materialise(const c10::IValue &value, const c10::TypePtr &type, Role role, const std::string &name);
  /// A new tensor input.
  Value *add_tensor(const c10::IValue &value, Role role, const std::string &name,
                    const std::optional<Formula> &formula = std::nullopt);
  /// The same with the very name that `input` has.
  Value *add_input(ProgramInput input);

private:
  std::string unique_identifier(const std::string &name);

  Program &program_;
  const Identifiers *taken_;
  Identifiers names_;
};

/// True if a value of this type can be cut, seen from its type alone (tensors, numbers, strings, None, and containers
/// of them).
bool can_materialise(const c10::IValue &value);

// Programs with hundreds of parameters as modules.

/// Does what instantiate() does, but spreads parameters and buffers over submodules where there are many: to find one
/// of a module's attributes LibTorch looks at all of them, several times for each. Not for backends that take flat
/// graphs only: they look no further than the module itself.
Instance instantiate_in_parts(const Program &program, const InstantiateOptions &options = {});

} // namespace repro_minify
