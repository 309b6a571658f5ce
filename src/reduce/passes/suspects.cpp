#include "reduce/passes/suspects.h"
#include "program/python_call.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace repro_minify {
namespace {

/// Farther away nothing is suspicious.
constexpr int reach = 3;

/// Operators that are rewritten all over the program (fused, or compiled) say nothing of the place.
constexpr size_t one_in_few = 8;

/// Where in `all` eager and optimised part. Returning a value changes what is fused, so that this may be nowhere.
std::optional<int> first_wrong_atom(const Verdict &verdict, const std::vector<int> &output_atoms, const IndexSet &all) {
  std::optional<int> first;
  if (verdict.outcome == Verdict::Outcome::Fail && verdict.outputs.size() == output_atoms.size())
    for (size_t i = 0; i < output_atoms.size(); ++i)
      if (const int atom = output_atoms[i];
          !verdict.outputs[i].same && (!first || atom < *first) && std::binary_search(all.begin(), all.end(), atom))
        first = atom;
  return first;
}

/// Atoms that the message of an exception seems to name ("clamp_min" in "aten::clamp_min: expected ...").
IndexSet named_atoms(const Cutter &cutter, const std::string &message, const IndexSet &all) {
  IndexSet named;
  for (int atom : all) {
    const std::string name = short_operator_name(cutter.node_of(atom));
    if (name.size() > 3 && message.find(name) != std::string::npos)
      named.push_back(atom);
  }
  return named;
}

/// None where most were.
IndexSet rewritten_atoms(const Cutter &cutter, const Verdict &verdict, const IndexSet &all) {
  const auto &rewritten = verdict.rewritten;
  IndexSet atoms;
  for (int atom : all)
    if (std::binary_search(rewritten.begin(), rewritten.end(), cutter.node_of(atom)->kind().toQualString()))
      atoms.push_back(atom);
  return atoms.size() * one_in_few <= all.size() ? atoms : IndexSet{};
}

/// Returns the atoms that a first wrong value may come from: the one that made it, and those rewritten nearby.
IndexSet around(int first_wrong, const IndexSet &rewritten, const Cutter &cutter, const IndexSet &all) {
  IndexSet result = {first_wrong};
  const auto distances = cutter.dataflow().undirected_distances(result, all);
  for (int atom : rewritten)
    if (atom != first_wrong && distances[atom] <= reach)
      result.push_back(atom);
  std::sort(result.begin(), result.end());
  return result;
}

/// True if it is asked which value is the first wrong one.
bool asks_for_first_wrong(const Signature &wanted) {
  return wanted.kind != FailureKind::Exception && wanted.where == "output";
}

} // namespace

IndexSet suspects(EngineContext &context, const Cutter &cutter, const IndexSet &all) {
  const auto &wanted = context.services.wanted();
  if (wanted.kind == FailureKind::Exception)
    return named_atoms(cutter, wanted.detail, all);
  if (asks_for_first_wrong(wanted)) {
    std::vector<int> output_atoms;
    const Program everything = cutter.cut(cutter.every_atom(), /*expose_all=*/true, output_atoms);
    const Verdict verdict = context.services.verdict_of(everything);
    if (const auto first = first_wrong_atom(verdict, output_atoms, all))
      return around(*first, rewritten_atoms(cutter, verdict, all), cutter, all);
  }
  return rewritten_atoms(cutter, context.services.verdict_of(cutter.cut(all)), all);
}

std::vector<LazyProgram> asked_by_suspects(const Signature &wanted, const Cutter &cutter) {
  if (!asks_for_first_wrong(wanted))
    return {};
  return {[&cutter] { return cutter.cut(cutter.every_atom(), /*expose_all=*/true); }};
}

std::vector<double> suspicion(const Cutter &cutter, const IndexSet &suspects, const IndexSet &all) {
  std::vector<double> weights(static_cast<size_t>(cutter.atoms()), 0.0);
  const auto distances = cutter.dataflow().undirected_distances(suspects, all);
  for (size_t atom = 0; atom < weights.size(); ++atom)
    if (distances[atom] <= reach)
      weights[atom] = std::pow(8.0, -distances[atom]);
  return weights;
}

} // namespace repro_minify
