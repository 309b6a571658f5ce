// What `bisect` and the end of a reduction have in common.
#pragma once
#include "app/session.h"
#include "repro_minify/bisect.h"

namespace repro_minify {

/// For a program that fails as `wanted` says, with the session's settings. Interrupted by signals.
BisectOptions bisect_options_of(const Session &session, const Signature &wanted);

} // namespace repro_minify
