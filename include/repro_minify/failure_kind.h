// The words of a Signature that are the same for every part of the project. No LibTorch here.
#pragma once
#include <string>

namespace repro_minify {

/// The kinds of failure, from the most to the least telling: where a comparison finds several, the first of these names
/// it. `Interesting` is what a program of the user's own finds (--oracle): it does not say why.
enum class FailureKind {
  Crash,
  Hang,
  Memory,
  Exception,
  Structure,
  Shape,
  Nan,
  Gradient,
  Accuracy,
  Dtype,
  Interesting
};
const char *to_string(FailureKind kind);
/// The kind of that name. Throws std::invalid_argument.
FailureKind failure_kind_from(const std::string &name);
/// True if the kind means that the optimised run ended and its results are wrong.
bool is_comparison(FailureKind kind);

} // namespace repro_minify
