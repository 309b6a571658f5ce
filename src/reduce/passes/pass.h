// The view that a pass has of the search that it is part of.
#pragma once

#include "program/flat_graph.h"
#include "reduce/passes/order.h"
#include "repro_minify/check.h"
#include "repro_minify/program.h"
#include "repro_minify/record.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// A Program that is made only when it is needed.
using LazyProgram = std::function<Program()>;

class PassServices {
public:
  virtual ~PassServices() = default;
  /// The failure that is looked for.
  virtual const Signature &wanted() const = 0;
  /// Returns what the Check says of any Program, with all its numbers: for hints. It accepts nothing.
  virtual Verdict verdict_of(const Program &program) = 0;
  /// Returns what eager computes, value by value, and remembers the last Recording. Throws std::runtime_error where the
  /// Program cannot be run.
  virtual std::shared_ptr<const Recording> record(const Program &program) = 0;
  /// How many questions can be looked at at a time: more than one, and it is worth saying what comes next.
  virtual int questions_at_once() const = 0;
  /// Says what is done next before the first cut, for a user who asks where the time went.
  virtual void enter_phase(const std::string &phase) = 0;
};

// A reduction pass proposes smaller Programs; the engine decides. One row in the registry a pass, and mostly one file.
//
// A pass may propose anything: what does not fail with the wanted Signature, or is not lower in the Order, is turned
// down. It only has to end, and to propose the same when it is asked again: no clock, no unseeded randomness.

/// All that most passes know of the search that they are part of.
struct PassContext {
  /// The Program so far. Its inputs' values are concrete.
  const Program &current;
  /// Accepts a candidate when it is lower in the Order and fails; then `current` is it. One that is not lower is turned
  /// down without a check.
  const std::function<bool(const Program &candidate)> try_candidate;
  /// Returns an eager run of `current`. Null where eager does not run it, which makes the turn incomplete(): a test
  /// that never runs a candidate may have accepted one that cannot be run.
  const std::function<std::shared_ptr<const Recording>()> record;
  /// Is told by a pass that could not try everything it is for what was left out: the result is then not said to be
  /// 1-minimal.
  const std::function<void(const std::string &left_out)> incomplete;
};

/// For the few passes that lead a search of their own or take hints from what failed.
struct EngineContext : PassContext {
  using Ask = std::function<bool(const Program &candidate, const std::vector<LazyProgram> &likely_next)>;

  /// Gives the wanted failure, verdicts, recordings of other programs.
  PassServices &services;
  /// The Verdict of the Check on `current`.
  const Verdict &verdict;
  /// Returns true if `candidate` fails, lower or not; accepts it where try_candidate() would. `likely_next` may be
  /// empty: it is for a pass that knows better what comes next than a look at what all passes do with either answer.
  const Ask fails;
  /// How likely the next question is answered yes, where the pass knows it better than its Odds do. For that question.
  std::optional<double> &chance;
  /// Set by a pass that found its way to get costly, where another pass may spare it: its turn comes again when no
  /// other one finds anything.
  bool &deferred;
  /// The pass had a turn before, and what it left has only been touched by others.
  const bool is_repeat;
  /// That turn: there is nothing left but to go through with it.
  const bool is_final_turn;
};

/// The purpose of a pass. A program is simplified once it is as small as it gets.
enum class Goal {
  Size,       ///< fewer nodes, outputs, inputs
  Simplicity, ///< values and types that a person can take in
};

struct ReductionPass {
  /// How often a candidate turns out to fail, the first of a turn and those after. Only orders guesses at what is asked
  /// next; from the reductions of fixtures/cases.
  struct Odds {
    double first = 0.3;
    double later = 0.3;
  };
  const char *name;
  const char *summary;
  Goal goal;
  /// Tries what it knows once. Takes a PassContext or an EngineContext.
  std::function<void(EngineContext &context)> run;
  Odds odds = {};
};

/// In the order of the documentation, which is also that of the first turns.
const std::vector<ReductionPass> &reduction_passes();

/// Offers candidates in order until one is accepted.
bool accept_first(PassContext &context, const std::vector<LazyProgram> &candidates);

void cut_nodes(EngineContext &context);         // cut_nodes.cpp
void drop_copies(PassContext &context);         // copies.cpp
void drop_outputs(EngineContext &context);      // outputs.cpp
void splice_nodes(EngineContext &context);      // splice.cpp
void merge_inputs(PassContext &context);        // inputs.cpp
void plain_values(EngineContext &context);      // plain_values.cpp
void straighten_branches(PassContext &context); // branches.cpp
void straighten_loops(EngineContext &context);  // loops.cpp
void inline_bodies(PassContext &context);       // bodies.cpp
void lower_trip_counts(PassContext &context);   // trips.cpp
void merge_duplicates(PassContext &context);    // duplicates.cpp
void remove_packing(PassContext &context);      // packing.cpp
void fold_constants(PassContext &context);      // constants.cpp
void plain_strides(PassContext &context);       // inputs.cpp
void shrink_sizes(EngineContext &context);      // sizes.cpp
void drop_dimensions(PassContext &context);     // dimensions.cpp
void plain_dtypes(PassContext &context);        // dtypes.cpp
void drop_autograd(PassContext &context);       // inputs.cpp
void plain_roles(PassContext &context);         // inputs.cpp
void short_values(PassContext &context);        // short_values.cpp
void plain_arguments(PassContext &context);     // plain_arguments.cpp
void shorten_calls(PassContext &context);       // calls.cpp

/// Indices of the inputs for which `condition` holds, asked in order.
std::vector<size_t> inputs_where(const Program &program, const std::function<bool(const ProgramInput &)> &condition);

/// A copy whose graph can be changed.
Program copy_of(const Program &program);

// Many edits of one kind: all at once, then by halves, down to each alone, so that edits that work cost few checks
// however many there are.

/// Calls `accepts(items)` and, where that returns false, does the same with each half of them.
template <typename Item, typename Accepts> void by_halves(const std::vector<Item> &items, const Accepts &accepts) {
  if (items.empty() || accepts(items) || items.size() == 1)
    return;
  const auto half = items.begin() + static_cast<std::ptrdiff_t>((items.size() + 1) / 2);
  by_halves(std::vector<Item>(items.begin(), half), accepts);
  by_halves(std::vector<Item>(half, items.end()), accepts);
}

/// Offers the candidates that `make(context.current, items)` returns, by halves: the second half is made from the
/// Program that the first one has left. Nothing is asked where `make` returns nothing.
template <typename Item, typename Make>
void accept_by_halves(PassContext &context, const std::vector<Item> &items, const Make &make) {
  by_halves(items, [&](const std::vector<Item> &some) {
    const std::optional<Program> candidate = make(context.current, some);
    return candidate && context.try_candidate(*candidate);
  });
}

/// Makes the Program with these edits, ascending, and no others. It starts from the same Program in every call, however
/// many edits have been accepted since: a pass that uses accept_in_bulk() keeps a copy of the one it began with.
using WithEdits = std::function<Program(const std::vector<size_t> &edits)>;

/// Accepts edits until each of the `count` is accepted or was turned down alone, beside those accepted before it.
/// Returns true if any was accepted. With `all_at_once` off the first candidate has half of them.
bool accept_in_bulk(PassContext &context, size_t count, const WithEdits &with, bool all_at_once = true);

} // namespace repro_minify
