// The whole job: from a model's file to the smallest program that still fails, and a repro of it that was built and
// run.
#pragma once
#include "repro_minify/minify_options.h"
#include "repro_minify/repro.h"

#include <optional>
#include <string>

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
};

/// Loads the archive at `model_path` and its inputs, checks, flattens, records, reduces, bisects, writes reduced.pt,
/// inputs.pt, repro.cpp and the reports into `options.folder`, confirms that what was saved fails, and builds and runs
/// the repro. Whatever computes does so in child processes. Throws UserError for what the caller got wrong (a missing
/// file, an unknown backend, a folder that is in use), std::exception for what the machine lacks.
Result minify(const std::string &model_path, const MinifyOptions &options);

} // namespace repro_minify
