// An untrusted file is read in a child first. The process that reduces touches only what a child has read
// to the end.
#pragma once
#include "repro_minify/sandbox.h"

#include <functional>
#include <string>

namespace repro_minify {

/// Runs `reading` in a confined child with less stack than this process has; returns what it returns. Throws UserError
/// in one sentence that begins with `origin`: with the child's own UserError, or how it ended. `doing`: "loading it".
std::string read_in_sandbox(const std::string &origin, const std::string &doing,
                            const std::function<std::string(Child &)> &reading, const Limits &limits);
/// The same where nothing is wanted of it but that it ends.
void try_in_sandbox(const std::string &origin, const std::string &doing, const std::function<void(Child &)> &reading,
                    const Limits &limits);

} // namespace repro_minify
