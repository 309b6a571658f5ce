#include "pipeline/minify_job.h"

#include "core/origins.h"
#include "program/cut.h"
#include "program/python_call.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

OperatorPlace place_of(const Node *node) {
  return {operator_name(node), node->outputs().empty() ? "" : node->outputs().front()->debugName(),
          node->sourceRange().str()};
}

/// Returns the atoms of the model that the operators of a reduced program were cut from, nested blocks included.
IndexSet origins_in(const Cutter &cutter, const Program &reduced) {
  std::vector<OperatorPlace> places, atoms;
  for (const Node *node : all_nodes(*reduced.graph))
    if (counts_as_operator(node))
      places.push_back(place_of(node));
  for (int atom = 0; atom < cutter.atoms(); ++atom)
    atoms.push_back(place_of(cutter.node_of(atom)));
  const std::vector<int> found = find_origins(places, atoms, /*or_operator=*/true);
  std::set<int> origins(found.begin(), found.end());
  origins.erase(-1);
  return {origins.begin(), origins.end()};
}

/// An exception or a crash is the same only with the same words or frames.
bool fails_alike(const Verdict &verdict, const Signature &wanted) {
  return shows(verdict, wanted, wanted.detail.empty() ? SameFailure::Kind : SameFailure::Strict);
}

/// How often each operator occurs.
using Operators = std::map<std::string, int>;

Operators operators_of_atoms(const Cutter &cutter, const IndexSet &atoms) {
  Operators result;
  for (const int atom : atoms)
    ++result[operator_name(cutter.node_of(atom))];
  return result;
}

/// Returns atoms around `end` that have just these operators, each reached from another one of them, the nearest first.
/// Empty where there are none.
IndexSet place_around(const Cutter &cutter, int end, Operators wanted, const std::set<int> &taken) {
  std::set<int> place, seen;
  std::deque<int> next = {end};
  while (!next.empty()) {
    const int atom = next.front();
    next.pop_front();
    const auto left = wanted.find(operator_name(cutter.node_of(atom)));
    if (taken.contains(atom) || !seen.insert(atom).second || left == wanted.end() || left->second == 0)
      continue;
    --left->second;
    place.insert(atom);
    for (const IndexSet *neighbours : {&cutter.dataflow().producers(atom), &cutter.dataflow().consumers(atom)})
      next.insert(next.end(), neighbours->begin(), neighbours->end());
  }
  const bool has_all = std::all_of(wanted.begin(), wanted.end(), [](const auto &entry) { return entry.second == 0; });
  return has_all ? IndexSet(place.begin(), place.end()) : IndexSet();
}

std::shared_ptr<const Recording> recording_of(const Session &session, const Flattened &model) {
  return model.recording ? model.recording
                         : std::make_shared<const Recording>(session.recording_of(model.program, session.limits()));
}

} // namespace

RestOfModel rest_of_model(Session &session, const Flattened &model, const Program &reduced, const Signature &wanted) {
  const Cutter cutter(recording_of(session, model));
  const IndexSet origins = origins_in(cutter, reduced);
  RestOfModel rest;
  if (origins.empty())
    return rest;
  std::set<int> taken(origins.begin(), origins.end());
  const Operators operators = operators_of_atoms(cutter, origins);
  const std::string last = operator_name(cutter.node_of(origins.back()));
  for (int atom = 0; atom < cutter.atoms(); ++atom) {
    if (taken.contains(atom) || operator_name(cutter.node_of(atom)) != last)
      continue;
    const IndexSet place = place_around(cutter, atom, operators, taken);
    if (place.empty() || !fails_alike(session.ask(cutter.cut(place), wanted), wanted))
      continue;
    taken.insert(place.begin(), place.end());
    ++rest.places;
  }
  IndexSet left;
  for (const int atom : cutter.every_atom())
    if (!taken.contains(atom))
      left.push_back(atom);
  if (Program program = cutter.cut(left); size_of(program).operators > 0 && !program.graph->outputs().empty())
    rest.program = std::move(program);
  return rest;
}

} // namespace repro_minify
