// What every subcommand begins with: the model, its inputs, and the first check of it as it was given.
#pragma once
#include "app/options.h"
#include "program/flatten.h"
#include "program/load.h"
#include "program/record.h"

#include <memory>

namespace repro_minify {

class Session {
public:
  /// Loads model and inputs. Throws UserError.
  explicit Session(const Options &options);

  const Options &options;
  LoadedModel model;
  LoadedInputs inputs;
  std::shared_ptr<const Backend> backend;
  CheckOptions check;

  /// The model as it is, nothing flattened. (A method other than forward is inlined first: backends compile forward.)
  Verdict check_original();
  /// The limits for candidates: ten times what the original took, at least ten seconds, unless told otherwise.
  Limits limits() const;
  RecordOptions record_options() const;

private:
  double original_seconds_ = 0;
};

/// Prints results for people on standard output, one table.
void print_verdict(const Verdict &verdict, const Session &session);
/// The same for scripts.
std::string verdict_json(const Verdict &verdict, const Session &session);

} // namespace repro_minify
