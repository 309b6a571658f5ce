// The reasons for which such reports are closed: pytorch/pytorch, .claude/skills/triaging-issues/ and
// .claude/skills/scrub-issue/.
#include "check/operators.h"
#include "program/python_call.h"
#include "repro/triage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace repro_minify {
namespace {

bool has_other_tolerance(const ReproFacts &facts) {
  const CompareOptions usual = accuracy_check_options();
  const CompareOptions &compare = facts.check.compare;
  return is_comparison(facts.signature.kind) && compare.rule != CompareRule::Exact && !compare.tol_by_dtype &&
         compare.tol < usual.tol;
}

/// True for a failure of values, which alone hang on the numbers that are drawn.
bool is_of_values(FailureKind kind) {
  return kind == FailureKind::Nan || kind == FailureKind::Gradient || kind == FailureKind::Accuracy;
}

/// Where two elements are equal, any of their places is right.
bool returns_an_index(const Program &program) {
  static const std::set<std::string> only = {"argmax", "argmin", "argsort"};
  static const std::set<std::string> second = {"max", "min", "sort", "topk", "mode", "kthvalue", "median"};
  for (const auto *output : program.graph->outputs()) {
    const torch::jit::Node *node = output->node();
    std::string name = short_operator_name(node);
    bool is_second = output->offset() == 1;
    if (is_python_call(node) && (name == "getitem" || name == "indices") && node->inputs().size() == 2) {
      const auto call = python_call_of(node); // of a pair: "operator.getitem" with 1, or the attribute of that name
      is_second = name == "indices" || (call.contains("a") && call["a"].size() == 2 && call["a"][1] == 1);
      name = short_operator_name(node->input(1)->node());
    }
    if (only.contains(name) || (is_second && (second.contains(name) || name.find("max_pool") != std::string::npos)))
      return true;
  }
  return false;
}

/// The largest number that a dtype of real numbers holds; nothing for any other, and for those of eight bits, whose end
/// is always near.
std::optional<double> largest_of(at::ScalarType dtype) {
  switch (dtype) {
  case at::kHalf:
    return std::numeric_limits<at::Half>::max();
  case at::kBFloat16:
    return std::numeric_limits<at::BFloat16>::max();
  case at::kFloat:
    return std::numeric_limits<float>::max();
  case at::kDouble:
    return std::numeric_limits<double>::max();
  default:
    return std::nullopt;
  }
}

/// Within a factor of a thousand of what the dtype can hold.
bool is_near_the_end(const LeafReport &leaf) {
  const std::optional<double> largest = leaf.ref_form ? largest_of(leaf.ref_form->dtype) : std::nullopt;
  if (leaf.same || !largest)
    return false;
  const double limit = *largest / 1e3;
  return std::abs(leaf.ref_at_worst) > limit || std::abs(leaf.res_at_worst) > limit;
}

/// An Inf where eager has a number: it overflowed, so it was near.
bool overflows(const LeafReport &leaf) {
  return !leaf.same && leaf.res_inf > leaf.ref_inf && leaf.ref_nan == leaf.res_nan;
}

bool has_large_values(const ReproFacts &facts) {
  const auto &leaves = facts.reduced.outputs;
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const LeafReport &leaf) { return is_near_the_end(leaf) || overflows(leaf); });
}

/// Why PyTorch would not work on it, whatever is wrong; empty where it would.
std::string not_worked_on(const ReproFacts &facts) {
  if (fails_in_inductor(facts) || !faulty_part_of_pytorch(facts).empty() ||
      (facts.backend->parts().tracker && is_part_of_pytorch(*facts.backend)))
    return "";
  if (!is_part_of_pytorch(*facts.backend))
    return "the backend is no part of PyTorch: its own project is the one to tell";
  const bool alone = fails_under(facts, ablation_names::inductor) == std::optional(false);
  return std::string("TorchScript is in maintenance mode, and reports about it alone are being closed; ") +
         (alone ? "TorchInductor is right" : "whether TorchInductor is wrong too is not known");
}

/// Empty for what is no rounding, where another reason says so, and where the mode that promises eager's numbers has
/// others too.
std::string as_rounding(const ReproFacts &facts) {
  const std::optional<Nature> nature = nature_of_reduced(facts);
  if (!nature || fails_under(facts, ablation_names::strict).value_or(false))
    return "";
  if (nature->kind == Nature::Kind::Rounding)
    return "by design, numerical tolerance: it is rounding, " + nature->why;
  if (nature->kind == Nature::Kind::IllConditioned)
    return to_string(*nature);
  return "";
}

} // namespace

std::optional<Nature> nature_of_reduced(const ReproFacts &facts) {
  return nature_of({.verdict = facts.reduced,
                    .failure = facts.signature,
                    .movement = facts.movement,
                    .operators = facts.after.operators,
                    .reads_unwritten = facts.reads_unwritten,
                    .fails_with_rounded_casts = fails_under(facts, ablation_names::emulated),
                    .is_command = facts.backend->name().starts_with("command:")});
}

std::vector<std::string> preflight(const Program &program, const ReproFacts &facts) {
  std::vector<std::string> reasons;
  if (const std::string reason = not_worked_on(facts); !reason.empty())
    reasons.push_back(reason);
  if (has_other_tolerance(facts))
    reasons.emplace_back("by design, numerical tolerance: the one in force is narrower than the default");
  if (facts.signature.at_equal_elements && returns_an_index(program))
    reasons.emplace_back(
        "a result is an index of a maximum, a minimum or a sort: where elements are equal, any of them is right");
  if (has_large_values(facts))
    reasons.emplace_back("an edge case: values are near the end of what their dtype can hold");
  if (fails_under(facts, ablation_names::emulated) == std::optional(false))
    reasons.emplace_back("mitigated by emulate_precision_casts=True: it is rounding that fusion leaves out");
  if (const std::string rounding = as_rounding(facts); !rounding.empty())
    reasons.push_back(rounding);
  if (!nearer_to_fp64(facts.reduced).empty())
    reasons.emplace_back("by design, numerical tolerance: the optimised result is nearer to float64 than eager's");
  if (is_of_values(facts.signature.kind) && may_draw(*program.graph))
    reasons.emplace_back("the program draws random numbers, which the two sides need not draw alike");
  return reasons;
}

} // namespace repro_minify
