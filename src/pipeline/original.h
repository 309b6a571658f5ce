// The first question: does the model, as it was given, fail in a way that can be reduced?
#pragma once
#include "repro_minify/minify.h"
#include "repro_minify/session.h"

#include <optional>

namespace repro_minify {

/// Why there is nothing to reduce, as the end of the job; nothing: go on. Throws UserError for a model that cannot be
/// checked at all.
std::optional<Result> nothing_to_reduce(const Session &session, const FailureRate &rate);

/// A test that is always true would be reduced to nothing (throws UserError), and one that is not sure of itself to
/// anything: then the end of the job. Nothing for a check under a backend.
std::optional<Result> oracle_is_unsure(Session &session, const FailureRate &rate);

} // namespace repro_minify
