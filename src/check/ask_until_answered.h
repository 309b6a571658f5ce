// A check that had no answer is made again: what was missing may be there a moment later.
#pragma once
#include "repro_minify/check.h"
#include "tasks/run_until_answered.h"

#include <functional>

namespace repro_minify {

/// Returns the Verdict of `once`, asked again while it has no answer, `most_asked_again` times at most. `before_again`
/// is called before each time but the first; once `interrupted` returns true, `once` is not asked again.
Verdict ask_until_answered(const std::function<Verdict()> &once, const std::function<void()> &before_again = {},
                           const std::function<bool()> &interrupted = {});

} // namespace repro_minify
