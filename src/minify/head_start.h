// A model that is given to be minified fails, most likely. Where a check takes seconds, what is asked once that is seen
// is begun beside the check that shows it.
#pragma once
#include "repro_minify/session.h"

namespace repro_minify {

/// Sets `session.recorded` and `session.begun`, as far as it gets before `is_over` says that the first check is. Errors
/// are ignored: they are reported when the same is done in earnest. Called once, during Session::check_original().
void take_head_start(Session &session, const std::function<bool()> &is_over);

/// Ends the check that was begun unless the model fails as was guessed: in an output.
void drop_head_start_unless_wanted(Session &session, const Verdict &original);

} // namespace repro_minify
