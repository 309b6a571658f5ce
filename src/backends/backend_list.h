// The names of backends as --backend takes them: one or several.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Splits each text at its commas. What follows `pass:` and is no backend's name is another pass of it
/// ("pass:cse,dce,jit" is `pass:cse,dce` and `jit`); what begins with `plugin:` or `command:` goes to the end of its
/// text, commas included.
std::vector<std::string> split_backend_names(const std::vector<std::string> &texts);

/// Throws UserError for a name that no backend has, and starts nothing: what a plugin or a program is, is not known
/// yet.
void require_known_backends(const std::vector<std::string> &names);

/// True if all of these run calls of torch.fx, and so take a program of such calls as it is.
bool run_calls_of_python(const std::vector<std::string> &names);

} // namespace repro_minify
