#include "emit/repro_words.h"

namespace repro_minify {

std::string headline(const ReproFacts &facts) {
  const std::string with_grad = facts.check.grad ? " (with gradients)" : "";
  switch (facts.signature.kind) {
  case FailureKind::Accuracy:
    return "Wrong result from " + facts.backend->title() + with_grad + ".";
  case FailureKind::Gradient:
    return "Wrong gradient from " + facts.backend->title() + ".";
  case FailureKind::Nan:
    return "Wrong NaN or Inf from " + facts.backend->title() + with_grad + ".";
  case FailureKind::Dtype:
    return "Wrong dtype from " + facts.backend->title() + with_grad + ".";
  case FailureKind::Shape:
    return "Wrong shape from " + facts.backend->title() + with_grad + ".";
  case FailureKind::Structure:
    return "A result of another type from " + facts.backend->title() + with_grad + ".";
  case FailureKind::Exception:
    return "Exception from " + facts.backend->title() + with_grad + " on a program that eager runs.";
  case FailureKind::Crash:
    return "Crash in " + facts.backend->title() + with_grad + " on a program that eager runs.";
  case FailureKind::Hang:
    return "Hang in " + facts.backend->title() + with_grad + " on a program that eager runs.";
  case FailureKind::Memory:
    return "Out of memory in " + facts.backend->title() + with_grad + " on a program that eager runs.";
  case FailureKind::Interesting:
    return "Interesting to " + facts.backend->title() + ".";
  }
  return "";
}

} // namespace repro_minify
