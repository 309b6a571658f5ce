// The model as it was given, nothing flattened: what the first check runs.
#pragma once
#include "repro_minify/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace repro_minify {

/// A TorchScript archive and the arguments of its method.
struct Archive {
  std::string path;
  std::vector<c10::IValue> arguments;
  uint64_t seed = 0;  ///< of the generators while it is loaded: loading can draw random numbers
  bool train = false; ///< leave it in training mode
  std::string method = "forward";
  /// The module from an earlier load, with shared pages: contents that are the same then take no more memory.
  std::optional<torch::jit::Module> loaded = std::nullopt;
};

/// Returns the Program as a reader of its file gets it: written as TorchScript and loaded again, which can change it
/// (the loader drops operators that it takes for dead).
Instance instantiate_reloaded(const Program &program, const InstantiateOptions &options);

/// Returns the Program as bytes that another process of ours can make an Instance of. Computes nothing.
std::string to_bytes(const Program &program);
/// Returns of what to_bytes() gave the same as instantiate_reloaded() of the Program. Throws c10::Error.
Instance instantiate_bytes(std::string_view bytes, const InstantiateOptions &options);

/// Loads the archive afresh each time, since a backend may have changed constants in place, and clones the arguments.
/// A method of another name becomes forward (see with_method_as_forward).
Instance instantiate(const Archive &archive, const InstantiateOptions &options);

} // namespace repro_minify
