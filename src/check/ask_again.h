// A check that had no answer is made again: what was missing may be there a moment later.
#pragma once
#include "repro_minify/check.h"
#include "sandbox/ask_again.h"

#include <functional>

namespace repro_minify {

/// What came of `once`, asked again while it has no answer. `before_again` comes before each time but the first; nobody
/// asks again once `interrupted` says so.
Verdict ask_until_answered(const std::function<Verdict()> &once, const std::function<void()> &before_again = {},
                           const std::function<bool()> &interrupted = {});

} // namespace repro_minify
