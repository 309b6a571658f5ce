#include "repro/repro_words.h"

#include "core/number_text.h"
#include "repro/triage.h"

#include <cstdint>

namespace repro_minify {
namespace {

std::string title_of(const ReproFacts &facts) {
  return is_fault_of_export(facts) ? "torch.export" : facts.backend->title();
}

} // namespace

std::string headline(const ReproFacts &facts) {
  const std::string with_grad = facts.check.grad ? " (with gradients)" : "";
  switch (facts.signature.kind) {
  case FailureKind::Accuracy:
    return "Wrong result from " + title_of(facts) + with_grad + ".";
  case FailureKind::Gradient:
    return "Wrong gradient from " + title_of(facts) + ".";
  case FailureKind::Nan:
    return "Wrong NaN or Inf from " + title_of(facts) + with_grad + ".";
  case FailureKind::Dtype:
    return "Wrong dtype from " + title_of(facts) + with_grad + ".";
  case FailureKind::Shape:
    return "Wrong shape from " + title_of(facts) + with_grad + ".";
  case FailureKind::Structure:
    return "A result of another type from " + title_of(facts) + with_grad + ".";
  case FailureKind::Exception:
    return "Exception from " + title_of(facts) + with_grad + " on a program that eager runs.";
  case FailureKind::Crash:
    return "Crash in " + title_of(facts) + with_grad + " on a program that eager runs.";
  case FailureKind::Hang:
    return "Hang in " + title_of(facts) + with_grad + " on a program that eager runs.";
  case FailureKind::Memory:
    return "Out of memory in " + title_of(facts) + with_grad + " on a program that eager runs.";
  case FailureKind::Interesting:
    return "Interesting to " + title_of(facts) + ".";
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
