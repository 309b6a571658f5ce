// What a backend that is used from Python has beside the rest.
#pragma once
#include "repro_minify/backend.h"

#include <nlohmann/json.hpp>
#include <string>

namespace repro_minify {

struct PythonRepro {
  std::string text;               ///< repro.py
  bool reads_files = false;       ///< it reads inputs.pt and attributes.pt
  std::string package;            ///< the same program compiled ahead of time, which C++ loads as model.pt2
  std::string no_package_because; ///< empty when there is one, and it fails in the same way
};

class PythonBackend {
public:
  virtual ~PythonBackend() = default;
  /// repro.py for a Program without tensor constants. `facts` are what emit.py reads. May take minutes. Called in a
  /// sandbox child; throws what compile() throws.
  virtual PythonRepro python_repro(const Program &program, const nlohmann::json &facts) const = 0;
};

} // namespace repro_minify
