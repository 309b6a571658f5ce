// The Program: a flat TorchScript graph and the concrete value of every graph input. It is the unit that is reduced.
#pragma once
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace repro_minify {

/// Something the user gave is missing, unreadable or does not fit: one clear sentence, exit code 2.
class UserError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The role of a graph input when the Program is made into a module again.
enum class Role {
  Input,     ///< an argument of forward
  Parameter, ///< a parameter of the module
  Buffer,    ///< a buffer of the module
  Constant,  ///< a tensor constant inside the graph
};
const char *to_string(Role role);

/// How the values of an input can be made again without their data.
struct Formula {
  enum class Kind { Zeros, Ones, Full, Arange, Randn, Rand };
  Kind kind = Kind::Zeros;
  double number = 0;      ///< what each element is, for Full
  std::uint64_t seed = 0; ///< of a generator of its own, for Randn and Rand
};

struct ProgramInput {
  std::string name; ///< a valid identifier, unique in its Program
  Role role = Role::Input;
  c10::IValue value; ///< a tensor; its storage may be shared with that of another input, and then stays shared
  std::optional<Formula> formula; ///< nothing where the values are data
};

/// `graph` has no `self`: its inputs are `inputs`, in order; its outputs are plain values (no packing into one tuple).
struct Program {
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<ProgramInput> inputs;
  struct Provenance {
    /// Operators that were seen to return one of their operands although their schema says that they do not.
    std::set<c10::Symbol> hidden_aliases;
    /// The code that the graph came from. Inlined nodes point into its functions, and the interpreter follows those
    /// pointers when it reports an error: they must live as long as any node does.
    std::shared_ptr<torch::jit::CompilationUnit> source;
  } provenance;
};

/// A Program made runnable: a fresh module (method `forward`) and its arguments. Nothing is shared with the Program's
/// values, unless InstantiateOptions::clone_values is off.
struct Instance {
  torch::jit::Module module;
  std::vector<c10::IValue> arguments;
};

struct InstantiateOptions {
  bool requires_grad = false;     ///< keep requires_grad of parameters and inputs; false clears it everywhere
  bool double_precision = false;  ///< floating values, and dtype arguments inside the graph, in float64 (complex128)
  bool clone_values = true;       ///< false: take the values themselves (for saving; never for running)
  c10::Device device = c10::kCPU; ///< where the module and the arguments are
};

/// A hidden alias that is written to later goes into a method of its own: TorchScript's compiler would otherwise trust
/// the schema and drop the write, when the module is saved and loaded again, on both sides of the comparison. Several
/// outputs become a tuple, one is returned as it is, none gives None. The module is in eval mode.
Instance instantiate(const Program &program, const InstantiateOptions &options = {});

/// The size of a repro, in the numbers that measure it.
struct ProgramSize {
  int nodes = 0;     ///< all nodes, nested blocks included, constants too
  int operators = 0; ///< nodes that counts_as_operator()
  int inputs = 0;    ///< arguments of forward
  int outputs = 0;
};
ProgramSize size_of(const Program &program);
/// All do but constants, attributes read or set, lists and tuples made or unpacked, tensors of numbers, and raising.
bool counts_as_operator(const torch::jit::Node *node);

/// Returns a hash of structure, outputs, roles and the inputs' data. A check cannot tell Programs of the same hash
/// apart.
std::string canonical_hash(const Program &program);

} // namespace repro_minify
