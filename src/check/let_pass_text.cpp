#include "check/let_pass_text.h"

#include "check/leaf_showing.h"

#include <sstream>

namespace repro_minify {

std::string let_pass_text(const Verdict &verdict) {
  if (const std::string nearer = nearer_to_fp64(verdict); !nearer.empty())
    return nearer + " differs, nearer to float64 than eager";
  const auto [name, leaf] =
      first_leaf(verdict, [](const LeafReport &each) { return each.same && is_whole(each) && each.max_abs_error > 0; });
  if (!leaf)
    return "";
  std::ostringstream text;
  text << name << " differs by up to " << leaf->max_abs_error << ", and holds no floating-point numbers";
  return text.str();
}

} // namespace repro_minify
