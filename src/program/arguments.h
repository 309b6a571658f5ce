// Fits a saved value to the arguments of a method: by position, by name, or both.
#pragma once
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace repro_minify {

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
