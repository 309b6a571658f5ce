// The whole job: from a model's file to the smallest program that still fails, and a repro of it that was built and
// run.
#pragma once
#include "repro_minify/minify_options.h"
#include "repro_minify/repro.h"

#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct Result {
  enum class Ending {
    Minimised,            ///< the repro is in `folder`
    HandedBack,           ///< it fails, but cannot be reduced: the model as it was given is in `folder`, with a repro
    DoesNotFail,          ///< nothing was written
    EagerNotReproducible, ///< likewise
    Interrupted,          ///< before there was anything to keep
  };
  Ending ending = Ending::Interrupted;
  /// Why it ended so, one sentence: of DoesNotFail and EagerNotReproducible.
  std::string why;
  /// The reduced program; of HandedBack the graph alone, without values, for a person to look at. Nothing elsewhere.
  std::optional<Program> program;
  ReproFacts facts; ///< all that the reports say, and whether the repro was verified
  std::string folder;
  /// With MinifyOptions::rest, where the failure was reduced and it is known: where the model shows it (this place, and
  /// each other one whose operators alone fail in the same way), and the file that the rest of the model is in.
  int places = 1;
  std::optional<std::string> rest;
};

/// True if there is a repro: of a reduced program, or of the model as it was given.
inline bool has_repro(const Result &result) {
  return result.ending == Result::Ending::Minimised || result.ending == Result::Ending::HandedBack;
}

/// Loads the archive at `model_path` and its inputs, checks, flattens, records, reduces, bisects, writes reduced.pt,
/// inputs.pt, repro.cpp and the reports into `options.folder`, confirms that what was saved fails, and builds and runs
/// the repro. Whatever computes does so in child processes. Throws UserError for what the caller got wrong (a missing
/// file, an unknown backend, a folder that is in use), std::exception for what the machine lacks.
Result minify(const std::string &model_path, const MinifyOptions &options);

/// The failures of one model.
struct AllFailures {
  /// Each bug once, in the order in which they were found, its results in a folder of its own: FOLDER/1, FOLDER/2. Its
  /// `places` are all that it was found at. Of a model that does not fail at all: one, which says why.
  std::vector<Result> failures;
  bool passes = false; ///< whether what is left of the model without them passes
  std::string why;     ///< why it is not known whether there are more; empty where it passes
};

/// Does what minify() does, then again with what is left of the model: the operators that a failure needs go, and what
/// read their results reads eager's values. It ends when what is left passes, when nothing more can be taken out, once
/// interrupted, or when the time budget, which all of them share, is spent. Two failures are one bug where the backend,
/// the kind, the guilty step, the words of an exception and the operators that are left agree. Writes index.html and
/// failures.json beside the folders. Throws as minify() does.
AllFailures minify_all(const std::string &model_path, const MinifyOptions &options);

} // namespace repro_minify
