// The identity of a reduction: two with the same one may share a journal.
#pragma once

#include "repro_minify/session.h"

namespace repro_minify {

/// All that answers depend on beside the candidates: versions, the model, its inputs, the options of a check.
Identity identity_of(const Session &session);

} // namespace repro_minify
