#include "repro/repro_words.h"

#include "core/number_text.h"

#include <cstdint>

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

std::string reproduction_marker(const Program &program, const Signature &signature) {
  uint32_t id = 2166136261u; // FNV-1a: no secret, only unlikely
  for (const char c : canonical_hash(program) + to_string(signature))
    id = (id ^ static_cast<unsigned char>(c)) * 16777619u;
  return std::string("REPRODUCED ") + to_string(signature.kind) + " " + padded_text(id, 8, 16);
}

} // namespace repro_minify
