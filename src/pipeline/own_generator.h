#pragma once
#include "repro_minify/session.h"

#include <optional>

namespace repro_minify {

/// TorchInductor draws random numbers by a generator of its own, which a check replaces by eager's
/// (`torch._inductor.config.fallback_random`), as their values could not be compared. What its own generator gets wrong
/// is not seen then: a dtype, or an exception.
///
/// Checks a model that passes under TorchInductor and draws random numbers once more, with TorchInductor's generator.
/// Returns the session's options with `fallback_random=false` if it fails so in another way than by its values, which
/// differ in any case; nothing otherwise, and where the user has set that entry. Throws Interrupted.
std::optional<MinifyOptions> options_with_own_generator(const Session &session, const FailureRate &rate);

} // namespace repro_minify
