#include "check/let_pass_text.h"

#include <array>
#include <sstream>
#include <utility>

namespace repro_minify {
namespace {

bool passes_with_other_whole_numbers(const LeafReport &leaf) {
  return leaf.same && leaf.ref_form && c10::isIntegralType(leaf.ref_form->dtype, /*includeBool=*/true) &&
         leaf.max_abs_error > 0;
}

} // namespace

std::string let_pass_text(const Verdict &verdict) {
  if (const std::string nearer = nearer_to_fp64(verdict); !nearer.empty())
    return nearer + " differs, nearer to float64 than eager";
  const std::array<std::pair<const char *, const std::vector<LeafReport> *>, 2> aspects = {
      {{"output", &verdict.outputs}, {"", &verdict.state}}};
  for (const auto &[what, leaves] : aspects)
    for (const LeafReport &leaf : *leaves)
      if (passes_with_other_whole_numbers(leaf)) {
        std::ostringstream text;
        text << what << leaf.path << " differs by up to " << leaf.max_abs_error
             << ", and holds no floating-point numbers";
        return text.str();
      }
  return "";
}

} // namespace repro_minify
