// The program and its data as texts of C++, worked out before anything of repro.cpp is written.
#pragma once
#include "repro_minify/repro.h"

#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

struct ReproParts {
  std::string script;                                          ///< TorchScript source; empty: reduced.pt is loaded
  std::vector<std::pair<std::string, std::string>> attributes; ///< statements that make the module's attributes
  std::vector<std::pair<std::string, std::string>> inputs;     ///< name, expression
  bool attributes_share = false;                               ///< memory: an expression names another attribute
  bool inputs_share = false;                                   ///< memory: an expression names another input
  bool has_constants = false;
  ReproFiles files;
};

/// Returns the texts of a reduced program. `grad`: tensors say whether they require gradients. What takes more than
/// 64 KiB, or has no text, is in the files.
ReproParts repro_parts(const Program &given, bool grad);

/// Returns those of a model that is handed back as it was given: it is in the files, all of it.
ReproParts repro_parts_as_given();

} // namespace repro_minify
