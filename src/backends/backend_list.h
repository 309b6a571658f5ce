// What --backend may say: one name or several.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Splits each text at its commas. What follows `pass:` and is no backend's name is another pass of it
/// ("pass:cse,dce,jit" is `pass:cse,dce` and `jit`); what begins with `plugin:` or `command:` goes to the end of its
/// text, commas included.
std::vector<std::string> split_backend_names(const std::vector<std::string> &texts);

} // namespace repro_minify
