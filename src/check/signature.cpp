// Signatures: when two failures are one.
#include "repro_minify/check.h"

#include "core/normalise.h"
#include "program/compute.h"

#include <algorithm>

namespace repro_minify {

std::string to_string(const Signature &signature) {
  std::string text = to_string(signature.kind);
  if (!signature.where.empty() && signature.where != "output" && signature.where != text)
    text += " in " + signature.where;
  if (!signature.detail.empty())
    text += ": " + signature.detail;
  return text;
}

const char *to_string(SameFailure same_failure) {
  switch (same_failure) {
  case SameFailure::Strict:
    return "strict";
  case SameFailure::Kind:
    return "kind";
  case SameFailure::Any:
    return "any";
  }
  return "?";
}

bool shows(const Verdict &verdict, const Signature &wanted, SameFailure same_failure) {
  if (verdict.outcome != Verdict::Outcome::Fail)
    return false;
  return std::any_of(verdict.signatures.begin(), verdict.signatures.end(), [&](const Signature &seen) {
    return same_failure == SameFailure::Any ||
           (same_failure == SameFailure::Kind ? seen.kind == wanted.kind : seen == wanted);
  });
}

std::string normalise_message(const std::string &message) {
  return without_particulars(first_sentence(message));
}

} // namespace repro_minify
