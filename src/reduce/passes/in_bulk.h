// Many edits of one kind: all at once, then by halves, so that edits that work cost few checks however many there are.
#pragma once
#include "reduce/passes/pass.h"

#include <functional>
#include <vector>

namespace repro_minify {

/// Makes the Program that has these of the edits, ascending, and no others. Always from the same Program, however many
/// have been accepted since: a pass that asks in bulk keeps the one it began with.
using WithEdits = std::function<Program(const std::vector<size_t> &edits)>;

/// Accepts as many of `count` edits as the failure allows, none tried alone that fails to be accepted. True if any was.
/// With `all_at_once` off the first question is about half of them.
bool accept_in_bulk(PassContext &context, size_t count, const WithEdits &with, bool all_at_once = true);

} // namespace repro_minify
