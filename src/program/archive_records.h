// Parts of load(): an archive is checked, and saved values are fitted to a method.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace repro_minify {

// Checks that an archive's records are what they say they are, before LibTorch, which believes them, reads it.

/// Throws UserError: a tensor reaches beyond the record that holds its data, values are nested without end, there is
/// too much code. For a child: it reads what a stranger wrote.
void require_sound_records(const std::string &path);

// Code of a model's own that runs while it is loaded: __setstate__. It may do otherwise each time (it can draw numbers
// that no seed decides, and read the clock), so what a child has seen it do says nothing of the next time.

/// True if any object of the model is made by its own code.
bool has_state_functions(const torch::jit::Module &module);

/// Returns the bytes of an archive of the same model as it is now, whose objects are what they hold: loading it runs no
/// code of the model. The module has lost its __getstate__ and __setstate__ afterwards, so this is for children.
std::string archive_without_state_functions(const torch::jit::Module &module);

// Fits a saved value to the arguments of a method: by position, by name, or both.

/// One value for each argument of the method but self, of its type. Takes, the first that fits:
///   a tuple or list, in the method's order; anything else: the one argument
///   a dict by the arguments' names
///   (args, kwargs): a tuple or list, and a dict by names
///   what a method that needs one argument takes as a whole: its list, its dict
/// Throws UserError, which begins with `origin`.
std::vector<c10::IValue> as_arguments(const c10::FunctionSchema &schema, const c10::IValue &saved,
                                      const std::string &origin);

/// "(x: Tensor, n: int)"
std::string argument_list(const c10::FunctionSchema &schema);

} // namespace repro_minify
