// A Program as Python that its users would write, from its TorchScript source.
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// How operators are called.
enum class PythonCalls {
  AsUsual, ///< torch.relu(x), x.add_(1), torch.nn.functional.linear(x, w)
  AsAten,  ///< torch.ops.aten.relu(x): what every operator has
};

struct PythonSource {
  /// Functions, indented by four; methods of one module, `self` their first argument. The last is forward.
  std::string text;
  bool one_function = false;      ///< nothing is read from `self`
  std::vector<std::string> types; ///< "List": what has to be imported from typing
};
/// `script` is what torchscript_source() gives.
PythonSource python_source(const std::string &script, PythonCalls calls);

/// The same as a plain function of another name, where it is one: without `self`.
std::string as_function(const PythonSource &source, const std::string &name);

} // namespace repro_minify
