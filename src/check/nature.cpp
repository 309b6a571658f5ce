// The rules that tell a bug from rounding. docs/comparison.md has them in words.
#include "repro_minify/nature.h"

#include "check/verdict_text.h"
#include "core/number_text.h"
#include "program/values.h"

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

using Kind = Nature::Kind;

/// An operator of PyTorch may be off by so many units in the last place and be right: the functions of vectorised
/// mathematics are correct to some 4 of them (SLEEF, "u35": 3.5).
constexpr double units_of_an_operator = 4;
/// Movement this near to the difference explains it.
constexpr double share_explained = 0.25;
/// A difference of so many units is seen at a glance to be none of rounding.
constexpr double units_beyond_rounding = 1e4;
/// The other side is as good as eager where its error against float64 is no larger than so many times eager's.
constexpr double as_good_as_eager = 4;

/// How far off the worst element is, in units of the last place of eager's value there.
double units_off(const LeafReport &leaf) {
  const std::optional<double> unit = leaf.ref_form ? rounding_unit(leaf.ref_form->dtype) : std::nullopt;
  if (!unit || !std::isfinite(leaf.max_abs_error))
    return std::numeric_limits<double>::quiet_NaN();
  const double scale = std::max(std::abs(leaf.ref_at_worst), std::abs(leaf.res_at_worst));
  return scale > 0 ? leaf.max_abs_error / (scale * *unit) : 0;
}

std::string in_units(double units, const LeafReport &leaf) {
  const std::string number = units < 100 ? rounded_text(units, 2) : rounded_text(units, 1);
  return "off by " + number + " units in the last place of " + dtype_name(leaf.ref_form->dtype);
}

class Rules {
public:
  Rules(const Nature::Facts &facts, const LeafReport &leaf) : facts_(facts), leaf_(leaf), units_(units_off(leaf)) {}

  Nature apply() const {
    Nature nature = facts_.failure.kind == FailureKind::Nan ? of_special_values()
                    : is_whole(leaf_)                       ? of_whole_numbers()
                                                            : of_numbers();
    nature.units = units_;
    return nature;
  }

private:
  bool explains(double movement) const { return movement > 0 && movement >= share_explained * leaf_.max_abs_error; }
  int operators() const { return std::max({1, facts_.operators, facts_.movement.operators}); }

  std::optional<Nature> of_memory_or_chance() const {
    if (facts_.reads_unwritten.value_or(false))
      return Nature{Kind::UnwrittenMemory, "with other values in uninitialised memory the result is another"};
    if (explains(facts_.movement.by_seed)) // of what draws none it is 0
      return Nature{Kind::RandomNumbers,
                    "the program draws random numbers, and under another seed eager moves by " +
                        rounded_text(facts_.movement.by_seed) + " too" +
                        (facts_.is_command ? "; the command has to seed its generators with $REPRO_MINIFY_SEED" : "")};
    return std::nullopt;
  }

  Nature of_special_values() const {
    if (auto found = of_memory_or_chance())
      return *found;
    return {Kind::WrongValue, leaf_.ref_nan + leaf_.ref_inf == 0
                                  ? "eager's elements are all finite there"
                                  : "NaN and Inf are not where eager's are, or not of their sign"};
  }

  Nature of_whole_numbers() const {
    if (auto found = of_memory_or_chance())
      return *found;
    if (!(facts_.movement.by_rounding > 0))
      return {Kind::WrongValue, "whole numbers do not round"};
    if (facts_.failure.where == "output" && !facts_.failure.at_equal_elements)
      return {Kind::WrongValue, "it does not hang on elements that are equal"};
    if (facts_.movement.orders)
      return {Kind::Tie, "an index of equal or nearly equal elements: eager's moves too when its inputs do in the last "
                         "place"};
    if (!explains(facts_.movement.by_rounding))
      return {Kind::WrongValue, wrong_value()};
    return {Kind::IllConditioned, "a whole number at the edge of a step: eager's moves too when its inputs do in the "
                                  "last place"};
  }

  Nature of_numbers() const {
    if (auto found = of_memory_or_chance())
      return *found;
    if (facts_.fails_with_rounded_casts == std::optional(false))
      return {Kind::Cast, "with emulate_precision_casts=True, which rounds at each cast as eager does, it is gone"};
    if (units_ <= units_of_an_operator * operators())
      return {Kind::Rounding, in_units(units_, leaf_) + ", and each of the " + std::to_string(operators()) +
                                  " operators may be off by " + rounded_text(units_of_an_operator)};
    if (explains(facts_.movement.by_rounding) && !is_specified())
      return {Kind::IllConditioned, "eager moves by " + rounded_text(facts_.movement.by_rounding) +
                                        " when its inputs move by one unit in the last place, and the difference is " +
                                        rounded_text(leaf_.max_abs_error)};
    if (leaf_.ref_error > 0 && leaf_.res_error <= as_good_as_eager * leaf_.ref_error)
      return {Kind::Rounding, "its RMSE against float64 is " + rounded_text(leaf_.res_error) + ", and eager's is " +
                                  rounded_text(leaf_.ref_error)};
    return {Kind::WrongValue, wrong_value()};
  }

  /// One operator, whose inputs are exact, and of which eager gives what float64 does: where it jumps, as `round` does
  /// at a tie, a small movement says nothing against eager.
  bool is_specified() const { return operators() == 1 && leaf_.ref_error == 0; }

  std::string wrong_value() const {
    if (is_specified() || units_ > units_beyond_rounding)
      return "off by " + rounded_text(leaf_.max_abs_error);
    const double moves = facts_.movement.by_rounding;
    const std::string off =
        std::isnan(units_) ? "off by " + rounded_text(leaf_.max_abs_error) : in_units(units_, leaf_);
    return std::isnan(moves) ? off
                             : off + ", where eager moves by " + rounded_text(moves) +
                                   " at most when its inputs move in the last place";
  }

  const Nature::Facts &facts_;
  const LeafReport &leaf_;
  double units_;
};

} // namespace

const char *to_string(Kind kind) {
  constexpr const char *names[] = {"wrong value",          "rounding",      "ill-conditioned", "cast", "tie or order",
                                   "uninitialised memory", "random numbers"};
  return names[static_cast<size_t>(kind)];
}

std::string to_string(const Nature &nature) {
  return std::string(to_string(nature.kind)) + ": " + nature.why;
}

std::optional<Nature> nature_of(const Nature::Facts &facts) {
  const FailureKind kind = facts.failure.kind;
  const LeafReport *leaf = leaf_showing(facts.verdict, facts.failure);
  const bool is_of_values = kind == FailureKind::Accuracy || kind == FailureKind::Gradient || kind == FailureKind::Nan;
  if (!is_of_values || !leaf || !leaf->ref_form || !leaf->res_form || leaf->ref_form->sizes != leaf->res_form->sizes)
    return std::nullopt;
  return Rules(facts, *leaf).apply();
}

} // namespace repro_minify
