// Which failures are one bug: what two reduced programs have in common that show the same one.
#pragma once
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

/// The parts of a bug's name that do not depend on the model in which it was found.
struct BugKey {
  std::string guilty;     ///< the pass that the guilty step runs, whichever time it runs it
  std::string detail;     ///< the words of an exception or the frames of a crash, as a Signature has them
  std::string essence;    ///< the operators that tell the bug from others
  int shared_results = 0; ///< how many results several readers have: a fold where another reads between is another bug
};

/// Returns the parts for a program that was reduced, or handed back as it was (its essence is empty then).
BugKey bug_key(const Program &program, const ReproFacts &facts);

/// Returns the rarest of these operators, and in words what is done in place: "hardshrink", "einsum a write". A failure
/// often needs some neighbour, to be fused with, to hang a gradient on or to be a tensor at all, and any will do: which
/// one a reduction keeps is an accident of the model. The commoner an operator is in models, the likelier it is no more
/// than that.
std::string essence_of(const std::vector<std::string> &operators);

/// Returns all that tells one bug from another, as one text: of the backend and the kind of failure too.
std::string to_string(const BugKey &key, const ReproFacts &facts);

} // namespace repro_minify
