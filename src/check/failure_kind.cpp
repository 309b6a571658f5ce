#include "repro_minify/failure_kind.h"

#include <stdexcept>

namespace repro_minify {

const char *to_string(FailureKind kind) {
  switch (kind) {
  case FailureKind::Crash:
    return "crash";
  case FailureKind::Hang:
    return "hang";
  case FailureKind::Memory:
    return "memory";
  case FailureKind::Exception:
    return "exception";
  case FailureKind::Structure:
    return "structure";
  case FailureKind::Shape:
    return "shape";
  case FailureKind::Nan:
    return "nan";
  case FailureKind::Gradient:
    return "gradient";
  case FailureKind::Accuracy:
    return "accuracy";
  case FailureKind::Dtype:
    return "dtype";
  case FailureKind::Interesting:
    return "interesting";
  }
  return "unknown";
}

FailureKind failure_kind_from(const std::string &name) {
  for (int kind = 0; kind <= static_cast<int>(FailureKind::Interesting); ++kind)
    if (name == to_string(static_cast<FailureKind>(kind)))
      return static_cast<FailureKind>(kind);
  throw std::invalid_argument("unknown failure kind: " + name);
}

bool is_comparison(FailureKind kind) {
  return kind > FailureKind::Exception && kind < FailureKind::Interesting;
}

} // namespace repro_minify
