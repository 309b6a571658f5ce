#include "check/failure_kind.h"

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
  }
  return "unknown";
}

} // namespace repro_minify
