#include "check/let_pass_text.h"

#include "check/compare_close.h"
#include "check/leaf_showing.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace repro_minify {
namespace {

/// More than the tolerance of PyTorch's minifier, and than `close` allows: no rounding that a person expects.
bool differs_by_much(const LeafReport &leaf) {
  if (!leaf.ref_form || !leaf.res_form)
    return false;
  const Tolerances close = tolerances_by_dtype(leaf.ref_form->dtype, leaf.res_form->dtype);
  const double rtol = std::max(1e-3, close.rtol), atol = std::max(1e-3, close.atol);
  return leaf.max_abs_error > atol + rtol * std::abs(leaf.ref_at_worst);
}

bool is_whole_and_let_pass(const LeafReport &leaf) {
  return leaf.same && is_whole(leaf) && leaf.max_abs_error > 0;
}

} // namespace

bool lets_whole_numbers_pass(const Verdict &verdict) {
  return first_leaf(verdict, is_whole_and_let_pass).second != nullptr;
}

std::string let_pass_text(const Verdict &verdict) {
  if (const std::string nearer = nearer_to_fp64(verdict); !nearer.empty())
    return nearer + " differs, nearer to float64 than eager";
  const auto [name, leaf] = first_leaf(verdict, is_whole_and_let_pass);
  std::ostringstream text;
  if (leaf) {
    text << name << " differs by up to " << leaf->max_abs_error << ", and holds no floating-point numbers";
    return text.str();
  }
  const auto [far_name, far] =
      first_leaf(verdict, [](const LeafReport &each) { return each.same && differs_by_much(each); });
  if (far)
    text << far_name << " differs by up to " << far->max_abs_error << ", and its RMSE against float64 is "
         << far->res_error << " where eager's is " << far->ref_error;
  return text.str();
}

} // namespace repro_minify
