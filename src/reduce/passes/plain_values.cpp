// Plain values: recorded data becomes something a person can write down, so that the repro needs no data file. Ones,
// zeros, one number everywhere, a count, a seeded randn or rand; for all inputs at once first, then one by one.
#include "reduce/passes/pass.h"

#include "core/number_text.h"
#include "program/formula.h"
#include "reduce/passes/focus.h"
#include "reduce/passes/order.h"
#include "reduce/passes/remake_input.h"

#include <ATen/core/Tensor.h>

namespace repro_minify {
namespace {

/// Returns the formula for input `i`; nothing when there is none.
using FormulaOf = std::function<std::optional<Formula>(const Program &program, size_t i)>;
using Kind = Formula::Kind;

std::optional<Program> with_formulas(const Program &program, const std::vector<size_t> &which,
                                     const FormulaOf &formula_of) {
  return with_inputs(program, which, [&](size_t i) {
    const std::optional<Formula> formula = formula_of(program, i);
    const auto &old = program.inputs[i].value.toTensor();
    return formula ? with_formula(program.inputs[i], *formula, old.sizes().vec(), old.scalar_type()) : std::nullopt;
  });
}

FormulaOf same_for_all(Kind kind) {
  return [kind](const Program &, size_t) { return Formula{.kind = kind}; };
}

/// Seeds differ, so that inputs do.
FormulaOf drawn_by(Kind kind) {
  return [kind](const Program &, size_t i) { return Formula{.kind = kind, .seed = i}; };
}

/// The number in focus everywhere.
FormulaOf filled(const Focus &focus) {
  return [focus](const Program &program, size_t i) -> std::optional<Formula> {
    const auto number = element_at(program.inputs[i].value.toTensor(), focus.of(i));
    if (!number)
      return std::nullopt;
    if (*number == 0 || *number == 1)
      return Formula{.kind = *number == 0 ? Kind::Zeros : Kind::Ones};
    return full_formula(*number);
  };
}

std::vector<FormulaOf> formulas(const Program &program, const Verdict &verdict) {
  std::vector<FormulaOf> result = {same_for_all(Kind::Ones), same_for_all(Kind::Zeros)};
  for (const Focus &focus : foci_of(program, verdict))
    result.push_back(filled(focus));
  result.push_back(same_for_all(Kind::Arange));
  result.push_back(drawn_by(Kind::Randn));
  result.push_back(drawn_by(Kind::Rand));
  return result;
}

bool accept_formula(EngineContext &context, const std::vector<size_t> &which) {
  std::vector<LazyProgram> candidates;
  for (const FormulaOf &formula : formulas(context.current, context.verdict))
    if (const auto candidate = with_formulas(context.current, which, formula))
      candidates.push_back([candidate] { return *candidate; });
  return accept_first(context, candidates);
}

/// One number everywhere, as plain a one as has its sign.
std::optional<Formula> plainer_number(const Program &program, size_t i) {
  const auto number = element_at(program.inputs[i].value.toTensor(), nullptr);
  if (!number || difficulty(*number) <= 2)
    return std::nullopt;
  return full_formula(*number < 0 ? -1 : 2);
}

/// One number everywhere, at the end of a type.
std::optional<Formula> number_at_a_limit(const Program &program, size_t i) {
  const auto number = element_at(program.inputs[i].value.toTensor(), nullptr);
  const auto limit = number ? limit_near(*number) : std::nullopt;
  return limit && difficulty(*limit) < difficulty(*number) ? std::optional(full_formula(*limit)) : std::nullopt;
}

/// One number everywhere, with two digits.
std::optional<Formula> shorter_number(const Program &program, size_t i) {
  const auto number = element_at(program.inputs[i].value.toTensor(), nullptr);
  if (!number)
    return std::nullopt;
  const double shorter = rounded(*number, 2);
  return difficulty(shorter) < difficulty(*number) ? std::optional(full_formula(shorter)) : std::nullopt;
}

bool is_full(const ProgramInput &input) {
  return input.formula && input.formula->kind == Kind::Full;
}

/// Drawn when it was larger: a count may do by now.
bool may_be_a_count(const ProgramInput &input) {
  return input.formula && is_drawn(*input.formula);
}

/// A formula that is not as plain as ones: what needed it then may not need it now.
bool may_be_plainer(const ProgramInput &input) {
  return input.formula && input.formula->kind != Kind::Ones && input.formula->kind != Kind::Zeros;
}

} // namespace

void plain_values(EngineContext &context) {
  const auto data = inputs_where(context.current, [](const ProgramInput &input) { return !input.formula; });
  if (data.size() < 2 || !accept_formula(context, data))
    for (size_t i : data)
      accept_formula(context, {i});
  const auto accept_plainer = [&](bool (*which)(const ProgramInput &), const FormulaOf &formula_of) {
    accept_by_halves(context, inputs_where(context.current, which),
                     [&](const Program &program, const std::vector<size_t> &inputs) {
                       return with_formulas(program, inputs, formula_of);
                     });
  };
  accept_plainer(may_be_plainer, same_for_all(Kind::Ones));
  accept_plainer(may_be_a_count, same_for_all(Kind::Arange));
  accept_plainer(is_full, plainer_number);
  accept_plainer(is_full, shorter_number);
  accept_plainer(is_full, number_at_a_limit);
}

} // namespace repro_minify
