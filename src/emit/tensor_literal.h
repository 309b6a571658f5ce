// Tensors as C++ source.
#pragma once
#include "repro_minify/program.h"

#include <map>
#include <string>

namespace repro_minify {

/// Writes inputs as C++ expressions, exactly: every bit of data, strides, and which inputs share storage. One writer
/// serves one program.
class TensorLiterals {
public:
  /// `keeps_grad`: say requires_grad too. Names of earlier inputs are referred to when storage is shared.
  explicit TensorLiterals(bool keeps_grad) : keeps_grad_(keeps_grad) {}
  std::string expression(const ProgramInput &input);
  /// Whether an expression so far names another input.
  bool shares() const { return shares_; }

private:
  bool keeps_grad_;
  bool shares_ = false;
  std::map<void *, std::string> storages_;
};

} // namespace repro_minify
