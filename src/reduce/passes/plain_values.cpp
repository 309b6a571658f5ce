// Plain values: recorded data becomes something a person can write down, so that the repro needs no data file. Ones,
// zeros, one number everywhere, a count, a seeded randn or rand; for all inputs at once first, then one by one.
#include "reduce/passes/in_bulk.h"

#include "program/formula.h"
#include "reduce/passes/focus.h"
#include "reduce/passes/order.h"
#include "reduce/passes/remake_input.h"

#include <ATen/core/Tensor.h>

namespace repro_minify {
namespace {

/// The formula for input `i`; empty when there is none.
using FormulaOf = std::function<std::string(const Program &program, size_t i)>;

std::optional<Program> with_formulas(const Program &program, const std::vector<size_t> &which,
                                     const FormulaOf &formula_of) {
  Program result = program; // the graph is shared: only values change
  for (size_t i : which) {
    const std::string formula = formula_of(program, i);
    const auto &old = program.inputs[i].value.toTensor();
    auto input =
        formula.empty() ? std::nullopt : with_formula(program.inputs[i], formula, old.sizes().vec(), old.scalar_type());
    if (!input)
      return std::nullopt;
    result.inputs[i] = std::move(*input);
  }
  return result;
}

FormulaOf same_for_all(const std::string &formula) {
  return [formula](const Program &, size_t) { return formula; };
}

/// Seeds differ, so that inputs do.
FormulaOf drawn_by(const std::string &function) {
  return [function](const Program &, size_t i) { return function + ":" + std::to_string(i); };
}

/// The number in focus everywhere.
FormulaOf filled(const Focus &focus) {
  return [focus](const Program &program, size_t i) {
    const auto number = element_at(program.inputs[i].value.toTensor(), focus.of(i));
    if (!number)
      return std::string();
    return *number == 0 ? "zeros" : *number == 1 ? "ones" : full_formula(*number);
  };
}

std::vector<FormulaOf> formulas(const Program &program, const Verdict &verdict) {
  std::vector<FormulaOf> result = {same_for_all("ones"), same_for_all("zeros")};
  for (const Focus &focus : foci_of(program, verdict))
    result.push_back(filled(focus));
  result.push_back(same_for_all("arange"));
  result.push_back(drawn_by("randn"));
  result.push_back(drawn_by("rand"));
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
std::string plainer_number(const Program &program, size_t i) {
  const auto number = element_at(program.inputs[i].value.toTensor(), nullptr);
  const std::string formula = number && *number < 0 ? full_formula(-1) : full_formula(2);
  return number && difficulty(*number) > 2 ? formula : "";
}

/// Drawn when it was larger: a count may do by now.
bool is_drawn(const ProgramInput &input) {
  return input.formula.starts_with("rand");
}

/// A formula that is not as plain as ones: what needed it then may not need it now.
bool may_be_plainer(const ProgramInput &input) {
  return !input.formula.empty() && input.formula != "ones" && input.formula != "zeros";
}

} // namespace

void plain_values(EngineContext &context) {
  const auto data = inputs_where(context.current, [](const ProgramInput &input) { return input.formula.empty(); });
  if (data.size() < 2 || !accept_formula(context, data))
    for (size_t i : data)
      accept_formula(context, {i});
  const auto accept_plainer = [&](bool (*which)(const ProgramInput &), const FormulaOf &formula_of) {
    accept_by_halves(context, inputs_where(context.current, which),
                     [&](const Program &program, const std::vector<size_t> &inputs) {
                       return with_formulas(program, inputs, formula_of);
                     });
  };
  accept_plainer(may_be_plainer, same_for_all("ones"));
  accept_plainer(is_drawn, same_for_all("arange"));
  accept_plainer([](const ProgramInput &input) { return input.formula.starts_with("full:"); }, plainer_number);
}

} // namespace repro_minify
