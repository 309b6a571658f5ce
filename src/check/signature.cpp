// Signatures: when two failures are one.
#include "repro_minify/check.h"

#include "program/compute.h"

#include <algorithm>
#include <regex>

namespace repro_minify {

std::string to_string(const Signature &signature) {
  std::string text = to_string(signature.kind);
  if (!signature.where.empty() && signature.where != "output" && signature.where != text)
    text += " in " + signature.where;
  if (!signature.detail.empty())
    text += ": " + signature.detail;
  return text;
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
  std::string text = first_sentence(message);
  // Addresses, then paths, names of values, and numbers: what is left is the same for every shape, machine and build. A
  // number that is part of a name (int64, BFloat16), or is one ("op_type: 24"), says what is wrong, and stays.
  static const std::regex address("0x[0-9a-fA-F]+"), path("(^|[ \"'(=])\\.{0,2}(/[^ \":,()']+)+"),
      values("%[A-Za-z0-9_.]+"), named("(type|kind|code):? ([0-9]+)"),
      number("(^|[^A-Za-z0-9_.])[-+]?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?(?![A-Za-z_])"), list("#(, ?#)+"),
      spaces("[ \t\r\n]+");
  text = std::regex_replace(text, address, "@");
  text = std::regex_replace(text, path, "$1PATH");
  text = std::regex_replace(text, values, "%");
  text = std::regex_replace(text, named, "$1 N$2");
  // Neighbours share the character between them, so once is not enough.
  text = std::regex_replace(text, number, "$1#");
  text = std::regex_replace(text, number, "$1#");
  text = std::regex_replace(text, list, "#");
  text = std::regex_replace(text, spaces, " ");
  return text.substr(0, 300);
}

} // namespace repro_minify
