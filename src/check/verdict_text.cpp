#include "check/verdict_text.h"

#include "check/compare_tensors.h"
#include "check/compare_values.h"
#include "core/json.h"
#include "core/number_text.h"
#include "core/text.h"
#include "program/values.h"

#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace repro_minify {

json worst_position_json(const LeafReport &leaf) {
  if (leaf.worst_index < 0 || !leaf.ref_form)
    return nullptr;
  return position_of(leaf.worst_index, leaf.ref_form->sizes);
}

std::string coverage_text(const Coverage &coverage) {
  std::string text = "compiled: " + std::to_string(coverage.compiled) + " operators";
  std::string others;
  for (const auto &[name, count] : coverage.not_compiled)
    others += (others.empty() ? "" : ", ") + name + (count > 1 ? " " + std::to_string(count) + "x" : "");
  if (!others.empty())
    text += "; not compiled: " + others;
  return coverage.because.empty() ? text : text + " (" + coverage.because + ")";
}

namespace {

/// More than the tolerance of PyTorch's minifier, and than `close` allows: no rounding that a person expects.
bool differs_by_much(const LeafReport &leaf) {
  if (!leaf.ref_form || !leaf.res_form)
    return false;
  const Tolerances close = tolerances_by_dtype(leaf.ref_form->dtype, leaf.res_form->dtype);
  const double rtol = std::max(1e-3, close.rtol), atol = std::max(1e-3, close.atol);
  return leaf.max_abs_error > atol + rtol * std::abs(leaf.ref_at_worst);
}

/// The number of elements of the largest; 1 where none has any.
double most_elements(const std::vector<LeafReport> &outputs) {
  double most = 1;
  for (const LeafReport &leaf : outputs)
    if (leaf.ref_form)
      most = std::max(most, static_cast<double>(c10::multiply_integers(leaf.ref_form->sizes)));
  return most;
}

bool is_whole_and_let_pass(const LeafReport &leaf) {
  return leaf.same && is_whole(leaf) && leaf.max_abs_error > 0;
}

constexpr const char *outcome_names[] = {"pass", "fail", "unresolved"};
constexpr const char *trouble_names[] = {"", "bug", "memory"};

json to_json(const std::optional<TensorForm> &form) {
  if (!form)
    return nullptr;
  return {{"dtype", dtype_name(form->dtype)},
          {"sizes", form->sizes},
          {"strides", form->strides},
          {"device", form->device},
          {"layout", form->layout}};
}

std::optional<TensorForm> form_from(const json &value) {
  if (value.is_null())
    return std::nullopt;
  const std::string dtype = value.at("dtype");
  const auto known = dtype_named(dtype);
  if (!known)
    throw std::invalid_argument("a tensor of an unknown dtype: " + dtype);
  return TensorForm{*known, integers_from_json(value.at("sizes")), integers_from_json(value.at("strides")),
                    value.at("device"), value.at("layout")};
}

constexpr std::pair<const char *, double LeafReport::*> leaf_numbers[] = {
    {"ref_error", &LeafReport::ref_error},         {"res_error", &LeafReport::res_error},
    {"ref_max_error", &LeafReport::ref_max_error}, {"multiplier", &LeafReport::multiplier},
    {"max_abs_error", &LeafReport::max_abs_error}, {"max_rel_error", &LeafReport::max_rel_error},
    {"ref_at_worst", &LeafReport::ref_at_worst},   {"res_at_worst", &LeafReport::res_at_worst},
    {"ref_special", &LeafReport::ref_special},     {"res_special", &LeafReport::res_special}};

constexpr std::pair<const char *, std::int64_t LeafReport::*> leaf_integers[] = {
    {"worst_index", &LeafReport::worst_index}, {"ref_nan", &LeafReport::ref_nan},
    {"ref_inf", &LeafReport::ref_inf},         {"res_nan", &LeafReport::res_nan},
    {"res_inf", &LeafReport::res_inf},         {"special_index", &LeafReport::special_index}};

json to_json(const LeafReport &leaf) {
  json kinds = json::array();
  for (FailureKind kind : leaf.kinds)
    kinds.push_back(to_string(kind));
  json value = {{"path", leaf.path},
                {"argument", leaf.argument},
                {"same", leaf.same},
                {"kinds", kinds},
                {"message", leaf.message},
                {"ref_type", leaf.ref_type},
                {"res_type", leaf.res_type},
                {"ref_form", to_json(leaf.ref_form)},
                {"res_form", to_json(leaf.res_form)},
                {"worst_position", worst_position_json(leaf)},
                {"nearer_to_fp64", leaf.nearer_to_fp64}};
  for (const auto &[name, member] : leaf_numbers)
    value[name] = json_number(leaf.*member);
  for (const auto &[name, member] : leaf_integers)
    value[name] = leaf.*member;
  return value;
}

/// Older journals lack some of them.
LeafReport leaf_from(const json &value) {
  LeafReport leaf;
  leaf.path = value.at("path");
  leaf.argument = static_cast<int>(integer_from_json(value.value("argument", json(-1))));
  leaf.same = value.at("same");
  for (const auto &kind : value.at("kinds"))
    leaf.kinds.push_back(failure_kind_from(kind));
  leaf.message = value.at("message");
  leaf.ref_type = value.at("ref_type");
  leaf.res_type = value.at("res_type");
  leaf.ref_form = form_from(value.value("ref_form", json()));
  leaf.res_form = form_from(value.value("res_form", json()));
  leaf.nearer_to_fp64 = value.value("nearer_to_fp64", false);
  for (const auto &[name, member] : leaf_numbers)
    leaf.*member = number_from_json(value.value(name, json()));
  for (const auto &[name, member] : leaf_integers)
    leaf.*member = integer_from_json(value.value(name, json(-1)));
  return leaf;
}

json to_json(const std::optional<Coverage> &coverage) {
  if (!coverage)
    return nullptr;
  return {{"compiled", coverage->compiled}, {"not_compiled", coverage->not_compiled}, {"because", coverage->because}};
}

std::optional<Coverage> coverage_from(const json &value) {
  if (value.is_null())
    return std::nullopt;
  return Coverage{value.at("compiled"), value.at("not_compiled"), value.at("because")};
}

json to_json(const std::vector<LeafReport> &leaves) {
  json list = json::array();
  for (const auto &leaf : leaves)
    list.push_back(to_json(leaf));
  return list;
}

std::vector<LeafReport> leaves_from(const json &list) {
  std::vector<LeafReport> leaves;
  for (const auto &leaf : list)
    leaves.push_back(leaf_from(leaf));
  return leaves;
}

Verdict::Trouble trouble_from(const std::string &name) {
  const auto *known = std::find(std::begin(trouble_names), std::end(trouble_names), name);
  if (known == std::end(trouble_names))
    throw std::invalid_argument("a verdict of an unknown trouble");
  return static_cast<Verdict::Trouble>(known - std::begin(trouble_names));
}

/// `same` does not look at strides.
bool differs_in_strides(const LeafReport &leaf) {
  return leaf.same && leaf.ref_form && leaf.res_form && strides_differ(*leaf.ref_form, *leaf.res_form);
}

} // namespace

bool lets_whole_numbers_pass(const Verdict &verdict) {
  return first_leaf(verdict, is_whole_and_let_pass).second != nullptr;
}

std::optional<double> sum_tolerance(const Verdict &verdict) {
  const double of_sum = accuracy_check_options().tol / most_elements(verdict.outputs);
  double most = 0;
  for (const LeafReport &leaf : verdict.gradients) {
    const double beyond = leaf.res_error - leaf.multiplier * leaf.ref_error;
    if (leaf.same && beyond > of_sum / 10) // half of what either part of the rule allows at most
      most = std::max(most, std::min(5 * beyond, leaf.max_abs_error / (2 + 2 * std::abs(leaf.ref_at_worst))));
  }
  return most > 0 ? std::optional(rounded(most, 1)) : std::nullopt;
}

LetPass let_pass(const Verdict &verdict) {
  constexpr const char *finer_rules = "--compare close or exact";
  if (const std::string nearer = nearer_to_fp64(verdict); !nearer.empty())
    return {nearer + " differs, nearer to float64 than eager", finer_rules};
  std::ostringstream text;
  if (const auto [name, leaf] = first_leaf(verdict, is_whole_and_let_pass); leaf) {
    text << name << " differs by up to " << leaf->max_abs_error << ", and holds no floating-point numbers";
    return {text.str(), finer_rules};
  }
  if (const auto [name, leaf] =
          first_leaf(verdict, [](const LeafReport &each) { return each.same && differs_by_much(each); });
      leaf) {
    text << name << " differs by up to " << leaf->max_abs_error << ", and its RMSE against float64 is "
         << leaf->res_error << " where eager's is " << leaf->ref_error;
    return {text.str(), finer_rules};
  }
  if (const auto tolerance = sum_tolerance(verdict)) {
    text << "gradients differ, which are those of a mean of " << most_elements(verdict.outputs)
         << " elements, and within the tolerance because they are small";
    return {text.str(), "--tol " + rounded_text(*tolerance, 1)};
  }
  if (const auto [name, leaf] = first_leaf(verdict, differs_in_strides); leaf) {
    text << name << " has strides [" << joined_numbers(leaf->res_form->strides) << "], and eager's has ["
         << joined_numbers(leaf->ref_form->strides) << "]";
    return {text.str(), "--compare exact"};
  }
  return {};
}

// Verdicts as JSON: what a sandbox child answers, what the journal holds, what --json prints.

std::string to_json(const Verdict &verdict) {
  json signatures = json::array();
  for (const auto &signature : verdict.signatures)
    signatures.push_back({{"kind", to_string(signature.kind)},
                          {"where", signature.where},
                          {"detail", signature.detail},
                          {"signal", signature.signal},
                          {"at_equal_elements", signature.at_equal_elements}});
  const json result = {{"outcome", outcome_names[static_cast<int>(verdict.outcome)]},
                       {"signatures", signatures},
                       {"message", verdict.message},
                       {"eager_failed", verdict.eager_failed},
                       {"eager_raises", verdict.eager_raises},
                       {"no_answer", verdict.no_answer},
                       {"trouble", trouble_names[static_cast<int>(verdict.trouble)]},
                       {"out_of_memory", verdict.out_of_memory},
                       {"eager_bytes", verdict.eager_bytes},
                       {"failing_call", verdict.failing_call},
                       {"has_fp64_reference", verdict.has_fp64_reference},
                       {"no_fp64_because", verdict.no_fp64_because},
                       {"eager_seconds", verdict.eager_seconds},
                       {"left_out", verdict.left_out},
                       {"no_gradient_left", verdict.no_gradient_left},
                       {"stateful", verdict.stateful},
                       {"rewritten", verdict.rewritten},
                       {"coverage", to_json(verdict.coverage)},
                       {"outputs", to_json(verdict.outputs)},
                       {"gradients", to_json(verdict.gradients)},
                       {"state", to_json(verdict.state)},
                       {"wall_seconds", verdict.wall_seconds}};
  // Messages come from models and may hold any bytes.
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

Verdict verdict_from_json(const std::string &text) {
  const json value = json::parse(text);
  Verdict verdict;
  const std::string outcome = value.at("outcome");
  const auto *known = std::find(std::begin(outcome_names), std::end(outcome_names), outcome);
  if (known == std::end(outcome_names))
    throw std::invalid_argument("a verdict of an unknown outcome");
  verdict.outcome = static_cast<Verdict::Outcome>(known - std::begin(outcome_names));
  for (const auto &signature : value.at("signatures"))
    verdict.signatures.push_back({failure_kind_from(signature.at("kind")), signature.at("where"),
                                  signature.at("detail"), signature.value("signal", 0), // these are not in older
                                  signature.value("at_equal_elements", false)});        // journals
  verdict.message = value.at("message");
  verdict.eager_failed = value.at("eager_failed");
  verdict.eager_raises = value.at("eager_raises");
  verdict.no_answer = value.value("no_answer", false);
  verdict.trouble = trouble_from(value.value("trouble", "")); // these three are not in older journals
  verdict.out_of_memory = value.value("out_of_memory", false);
  verdict.eager_bytes = value.value("eager_bytes", uint64_t{0});
  verdict.failing_call = static_cast<int>(integer_from_json(value.at("failing_call")));
  verdict.has_fp64_reference = value.at("has_fp64_reference");
  verdict.no_fp64_because = value.at("no_fp64_because");
  verdict.eager_seconds = value.value("eager_seconds", 0.0); // these three are not in older journals
  verdict.left_out = value.value("left_out", "");
  verdict.no_gradient_left = value.value("no_gradient_left", false);
  verdict.stateful = value.at("stateful");
  verdict.rewritten = value.value("rewritten", std::vector<std::string>{}); // not in older journals
  verdict.coverage = coverage_from(value.value("coverage", json()));
  verdict.outputs = leaves_from(value.at("outputs"));
  verdict.gradients = leaves_from(value.at("gradients"));
  verdict.state = leaves_from(value.at("state"));
  verdict.wall_seconds = value.at("wall_seconds");
  if (verdict.outcome == Verdict::Outcome::Fail && verdict.signatures.empty())
    throw std::invalid_argument("a failure without a signature");
  return verdict;
}

} // namespace repro_minify
