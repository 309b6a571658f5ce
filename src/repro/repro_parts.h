// The program and its data as texts of C++, worked out before anything of repro.cpp is written.
#pragma once
#include "repro_minify/program.h"
#include "repro_minify/repro.h"

#include <map>
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

// Tensors as C++ or Python source.

enum class Language { Cpp, Python };

/// Writes inputs as expressions, exactly: every bit of data, strides, and which inputs share storage. One writer
/// serves one program.
class TensorLiterals {
public:
  /// `keeps_grad`: say requires_grad too. Names of earlier inputs are referred to when storage is shared.
  explicit TensorLiterals(bool keeps_grad, Language language = Language::Cpp)
      : keeps_grad_(keeps_grad), language_(language) {}
  std::string expression(const ProgramInput &input) { return expression(input, input.name); }
  /// `name`: what later inputs call it by.
  std::string expression(const ProgramInput &input, const std::string &name);
  /// True if an expression so far names another input.
  bool shares() const { return shares_; }

private:
  bool keeps_grad_;
  Language language_;
  bool shares_ = false;
  std::map<void *, std::string> storages_;
};

} // namespace repro_minify
