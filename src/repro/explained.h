// Tests if the values of the optimised side follow from one another.
#pragma once

#include "repro/intermediate.h"
#include "repro_minify/check.h"

#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// The job of a sandbox child. `exposed` returns all `values`: its optimised side is called `call` times, then each
/// operator is run by itself, as eager has it, on the values that were found before it. The reply says of each value
/// whether the operator makes of them what was found.
Job explain_job(std::shared_ptr<const Program> exposed, std::shared_ptr<const Backend> backend,
                const CheckOptions &options, const std::vector<Intermediate> &values, int call);

/// One for each value, as the reply has it; all false where it says nothing.
std::vector<char> explained_from(const std::string &reply, size_t values);

} // namespace repro_minify
