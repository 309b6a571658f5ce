// The rest of a model: what is left of it without the operators that a failure needs.
#pragma once
#include "repro_minify/session.h"

#include <optional>

namespace repro_minify {

/// A model without one failure, wherever it shows it.
struct RestOfModel {
  /// The flat model without the operators of the reduced program: what read their results reads the values that eager
  /// gave, as inputs. Nothing where no operator of the reduced program is found in the model, or none is left.
  std::optional<Program> program;
  /// Where the failure was seen: the place that was reduced, and each other one whose operators alone fail in the same
  /// way.
  int places = 1;
};

/// Takes `reduced`, which `model` came down to and which fails as `wanted` says, out of the model. Asks a check for
/// each other place that has the same operators. Throws Interrupted, std::runtime_error for what cannot be recorded.
RestOfModel rest_of_model(Session &session, const Flattened &model, const Program &reduced, const Signature &wanted);

} // namespace repro_minify
