#include "check/coverage_text.h"

namespace repro_minify {

std::string coverage_text(const Coverage &coverage) {
  std::string text = "compiled: " + std::to_string(coverage.compiled) + " operators";
  std::string others;
  for (const auto &[name, count] : coverage.not_compiled)
    others += (others.empty() ? "" : ", ") + name + (count > 1 ? " " + std::to_string(count) + "x" : "");
  if (!others.empty())
    text += "; not compiled: " + others;
  return coverage.because.empty() ? text : text + " (" + coverage.because + ")";
}

} // namespace repro_minify
