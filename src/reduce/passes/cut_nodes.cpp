// Cut: remove nodes. The set search decides which; what a removed node made comes back as an input with the recorded
// value.
#include "reduce/passes/program_oracle.h"

#include "check/verdict_text.h"
#include "program/cut.h"
#include "program/python_call.h"
#include "program/surgery.h"
#include "reduce/passes/pass.h"
#include "reduce/passes/suspects.h"
#include "reduce/search_stages.h"

#include <algorithm>
#include <optional>
#include <set>

namespace repro_minify {
namespace {

/// Below, guesses cost more than they save, and the certificate is cheap.
constexpr size_t small_program = 12;

/// That a failure stays where nothing goes but what it has no part in.
constexpr double most_likely = 0.95;

/// So many refusals one after another are seldom those of a search on its way: most likely the failure needs a path,
/// each node of which the cut would try, where a splice takes a stretch of it at once.
constexpr int too_many_refusals = 24;

struct PutOff {};

/// Gives up on a search that is refused too often, unless there is nothing else left to try.
class CutOracle final : public ProgramOracle {
public:
  CutOracle(EngineContext &context, const Cutter &cutter)
      : ProgramOracle(context, [&cutter](const IndexSet &kept) { return cutter.cut(kept); }), chance_(context.chance),
        patient_(context.is_final_turn) {}

  /// `after`: what is asked after that and what comes between.
  bool most_likely_fails(const IndexSet &kept, const std::vector<LazyProgram> &after) {
    chance_ = most_likely;
    expect(after);
    return fails(kept);
  }

  bool fails(const IndexSet &kept) override {
    if (refusals_ >= too_many_refusals && !patient_)
      throw PutOff{};
    const bool failed = ProgramOracle::fails(kept);
    refusals_ = failed ? 0 : refusals_ + 1;
    return failed;
  }

private:
  std::optional<double> &chance_;
  const bool patient_;
  int refusals_ = 0; ///< since something was accepted last
};

/// Adds what `needed` is made from, as far as the dataflow tells.
void add_producers(const Cutter &cutter, std::vector<bool> &needed) {
  const auto &order = cutter.dataflow().topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (needed[*it])
      for (int producer : cutter.dataflow().producers(*it))
        needed[producer] = true;
}

/// The atoms that `target` is made from, itself included. Of a loop each may be: what an iteration makes, the next one
/// reads, and the dataflow has no cycles.
IndexSet ancestors(const Cutter &cutter, int target) {
  std::vector<bool> needed(cutter.atoms()), before;
  needed[target] = true;
  while (needed != before) {
    before = needed;
    add_producers(cutter, needed);
    std::set<const Node *> whole;
    for (int atom = 0; atom < cutter.atoms(); ++atom)
      if (const auto *outer = outermost(cutter.node_of(atom)); needed[atom] && !outer->blocks().empty())
        whole.insert(outer);
    for (int atom = 0; atom < cutter.atoms() && !whole.empty(); ++atom)
      needed[atom] = needed[atom] || whole.count(outermost(cutter.node_of(atom))) > 0;
  }
  IndexSet result;
  for (int atom = 0; atom < cutter.atoms(); ++atom)
    if (needed[atom])
      result.push_back(atom);
  return result;
}

/// The name of the Program's input whose gradient this leaf is.
std::string input_of_gradient(const Program &program, const LeafReport &leaf) {
  const std::string name = leaf.path.substr(leaf.path.rfind('.') + 1); // of many parameters, each is in a submodule
  int argument = 0;
  for (const auto &input : program.inputs) {
    if (input.role == Role::Parameter && leaf.argument < 0 && name == input.name)
      return input.name;
    if (input.role == Role::Input && leaf.argument == argument++)
      return input.name;
  }
  return "";
}

/// Returns the atoms that the first output that fails is made from.
IndexSet behind_output(const Cutter &cutter, const Verdict &verdict, const std::vector<int> &atoms,
                       const Signature &wanted) {
  const LeafReport *leaf = leaf_showing(verdict, wanted);
  if (!leaf || verdict.outputs.size() != atoms.size())
    return {};
  return ancestors(cutter, atoms[static_cast<size_t>(leaf - verdict.outputs.data())]);
}

/// Returns the atoms behind those outputs that the input with the first wrong gradient has a part in.
IndexSet behind_gradient(const Cutter &cutter, const Verdict &verdict, const std::vector<int> &atoms,
                         const Program &program, const Signature &wanted) {
  const LeafReport *leaf = leaf_showing(verdict, wanted);
  const std::string name = leaf ? input_of_gradient(program, *leaf) : "";
  std::set<int> made_from;
  for (int atom : atoms) {
    const IndexSet slice = cutter.close(ancestors(cutter, atom));
    const Program part = cutter.cut(slice);
    if (std::any_of(part.inputs.begin(), part.inputs.end(), [&](const auto &input) { return input.name == name; }))
      made_from.insert(slice.begin(), slice.end());
  }
  return {made_from.begin(), made_from.end()};
}

/// A model can fail in several outputs (or gradients) for several reasons. The reduction is about the first that shows
/// the wanted failure: what has no part in that one goes before anything else, and cannot lead to another bug.
/// `verdict`: of all atoms.
IndexSet part_of_the_wanted(const Signature &wanted, const Cutter &cutter, const IndexSet &all,
                            const Verdict &verdict) {
  std::vector<int> atoms;
  const Program program = cutter.cut(all, /*expose_all=*/false, atoms);
  if (atoms.size() < 2)
    return all;
  IndexSet made_from;
  if (wanted.where == "output")
    made_from = behind_output(cutter, verdict, atoms, wanted);
  else if (wanted.where == "gradient")
    made_from = behind_gradient(cutter, verdict, atoms, program, wanted);
  made_from = cutter.close(made_from);
  return made_from.empty() ? all : made_from;
}

/// Returns the atoms that the search begins with; nothing where the Program cannot be cut: taking nothing out changed
/// the failure.
std::optional<IndexSet> beginning(EngineContext &context, const Cutter &cutter, const IndexSet &all,
                                  CutOracle &oracle) {
  const Signature &wanted = context.services.wanted();
  std::vector<LazyProgram> hint;
  if (all.size() >= small_program)
    hint = asked_by_suspects(wanted, cutter);
  if (!oracle.most_likely_fails(all, hint))
    return std::nullopt;
  const IndexSet part = part_of_the_wanted(wanted, cutter, all, context.services.verdict_of(cutter.cut(all)));
  return part.size() < all.size() && oracle.most_likely_fails(part, hint) ? part : all;
}

/// Returns a label for each atom, the same for equal operators (of the same kind and types), so that a repeated block
/// of a network is seen as one.
std::vector<std::string> labels(const Cutter &cutter) {
  std::vector<std::string> result;
  for (int atom = 0; atom < cutter.atoms(); ++atom) {
    const auto *node = cutter.node_of(atom);
    std::string label = operator_name(node);
    for (const auto *output : node->outputs())
      label += ' ' + output->type()->str();
    result.push_back(std::move(label));
  }
  return result;
}

/// Tells the search what is known of the failure's place before it asks anything. Small programs need no guesses.
void give_hints(EngineContext &context, const Cutter &cutter, const IndexSet &all, SearchOptions &search) {
  if (all.size() < small_program)
    return;
  if (const IndexSet named = suspects(context, cutter, all); !named.empty()) {
    for (int radius : {0, 1, 3})
      search.guesses.push_back(cutter.dataflow().ball(named, radius, all));
    search.weights = suspicion(cutter, named, all);
  }
  // The arithmetic without the bookkeeping of shapes that surrounds it in scripted models.
  search.guesses.push_back(intersect(cutter.tensor_atoms(), all));
  search.labels = labels(cutter);
}

/// Atoms of which something is made in a block that was not the same every time.
IndexSet changing_atoms(const Cutter &cutter, const Recording &recording) {
  IndexSet result;
  for (int atom = 0; atom < cutter.atoms(); ++atom) {
    const auto made = cutter.node_of(atom)->outputs();
    if (std::any_of(made.begin(), made.end(),
                    [&](const auto *value) { return recording.last.count(recording.value_index.at(value)) > 0; }))
      result.push_back(atom);
  }
  return result;
}

/// Cuts with the last values of loops: a cut brings back what a node in a loop made the first time, and some failures
/// need what it made the last time. Most loops do not last: this is put off until no other pass finds anything.
void cut_as_it_ended(EngineContext &context) {
  const auto recording = context.record();
  if (!recording || recording->last.empty())
    return;
  const Cutter cutter(std::make_shared<Recording>(as_it_ended(*recording)));
  const IndexSet all = cutter.every_atom(), changing = changing_atoms(cutter, *recording);
  if (!context.is_final_turn && !changing.empty()) {
    context.deferred = true;
    return;
  }
  accept_in_bulk(context, changing.size(), [&](const std::vector<size_t> &which) {
    IndexSet gone;
    for (size_t i : which)
      gone.push_back(changing[i]);
    return cutter.cut(subtract(all, gone));
  });
}

} // namespace

void cut_nodes(EngineContext &context) {
  const auto recording = context.record();
  if (!recording)
    return;
  context.services.enter_phase("index");
  const Cutter cutter(recording);
  const IndexSet all = cutter.every_atom();
  CutOracle oracle(context, cutter);
  if (all.empty())
    return;
  const auto start = beginning(context, cutter, all, oracle);
  if (!start) {
    context.incomplete("could take nothing out: with recorded values in its place the program no longer fails");
    return;
  }
  SearchOptions search;
  search.speculation_width = speculation_width(context);
  context.services.enter_phase("hints");
  give_hints(context, cutter, *start, search);
  context.services.enter_phase("first cut");
  // Other passes make the program smaller still: what is certified now would have to be certified again.
  search.certify = context.is_final_turn || all.size() < small_program;
  search.mostly_needed = context.is_repeat && all.size() < small_program;
  context.deferred = !search.certify;
  try {
    minimize(*start, cutter.dataflow(), oracle, search);
  } catch (const PutOff &) {
    context.deferred = true;
  }
  if (search.certify && has_control_flow(context.current))
    cut_as_it_ended(context);
}

} // namespace repro_minify
