#include "check/leaf_showing.h"

#include <algorithm>

namespace repro_minify {
namespace {

constexpr const char *whole_numbers = "whole numbers";

/// Where rounding is a failure, a wrong whole number is another one: no search may end at what is only rounded.
std::string what_is_wrong(const LeafReport &leaf, FailureKind kind, CompareRule rule) {
  return kind == FailureKind::Accuracy && !has_arbiter(rule) && is_whole(leaf) ? whole_numbers : "";
}

bool has(const LeafReport &leaf, FailureKind kind) {
  return std::find(leaf.kinds.begin(), leaf.kinds.end(), kind) != leaf.kinds.end();
}

const std::vector<LeafReport> &leaves_of(const Verdict &verdict, const std::string &where) {
  return where == "gradient" ? verdict.gradients : where == "state" ? verdict.state : verdict.outputs;
}

} // namespace

bool is_whole(const LeafReport &leaf) {
  return leaf.ref_form && c10::isIntegralType(leaf.ref_form->dtype, /*includeBool=*/true);
}

std::pair<std::string, const LeafReport *> first_leaf(const Verdict &verdict,
                                                      const std::function<bool(const LeafReport &)> &is_wanted) {
  const std::pair<const char *, const std::vector<LeafReport> *> aspects[] = {
      {"output", &verdict.outputs}, {"gradient of ", &verdict.gradients}, {"", &verdict.state}};
  for (const auto &[what, leaves] : aspects)
    for (const LeafReport &leaf : *leaves)
      if (is_wanted(leaf))
        return {what + leaf.path, &leaf};
  return {"", nullptr};
}

std::vector<Signature> signatures_of(const LeafReport &leaf, const std::string &where, CompareRule rule) {
  std::vector<Signature> signatures;
  for (FailureKind kind : leaf.kinds) {
    const std::string detail = what_is_wrong(leaf, kind, rule);
    if (where == "gradient" && (kind == FailureKind::Accuracy || kind == FailureKind::Structure))
      kind = FailureKind::Gradient;
    signatures.push_back({kind, where, detail});
  }
  return signatures;
}

bool comes_of_dtypes(const Verdict &verdict, const Signature &failure) {
  const auto &leaves = leaves_of(verdict, failure.where);
  return (failure.kind == FailureKind::Accuracy || failure.kind == FailureKind::Nan) &&
         std::any_of(leaves.begin(), leaves.end(), [&](const LeafReport &leaf) { return has(leaf, failure.kind); }) &&
         std::all_of(leaves.begin(), leaves.end(),
                     [&](const LeafReport &leaf) { return !has(leaf, failure.kind) || has(leaf, FailureKind::Dtype); });
}

const LeafReport *leaf_showing(const Verdict &verdict, const Signature &failure) {
  const bool tells_whole_numbers = // as only some rules do
      std::any_of(verdict.signatures.begin(), verdict.signatures.end(),
                  [](const Signature &signature) { return signature.detail == whole_numbers; });
  const CompareRule rule = tells_whole_numbers ? CompareRule::Exact : CompareRule::Default;
  const auto &leaves = leaves_of(verdict, failure.where);
  auto found = std::find_if(leaves.begin(), leaves.end(), [&](const LeafReport &leaf) {
    const auto shown = signatures_of(leaf, failure.where, rule);
    return std::find(shown.begin(), shown.end(), failure) != shown.end();
  });
  if (found == leaves.end())
    found = std::find_if(leaves.begin(), leaves.end(), [](const LeafReport &leaf) { return !leaf.same; });
  return found == leaves.end() ? nullptr : &*found;
}

} // namespace repro_minify
