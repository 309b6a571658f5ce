// Tensors as C++ or Python source.
#pragma once
#include "repro_minify/program.h"

#include <map>
#include <string>

namespace repro_minify {

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
