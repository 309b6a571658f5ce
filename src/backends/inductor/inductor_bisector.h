// The conversation with torch._inductor.compiler_bisector, which runs in a child of the Python worker
// (inductor/bisector.py).
#pragma once
#include "backends/inductor/inductor_worker.h"
#include "repro_minify/backend_parts.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// The backend as the bisector wants it: `state` goes with the request to compile.
using InductorVariant = std::function<std::shared_ptr<const Backend>(const nlohmann::json &state)>;

std::vector<std::string> inductor_parts(const std::string &address);
std::optional<OwnFinding> bisect_inductor(const std::string &address, const InductorVariant &variant,
                                          const OwnBisector::Fails &fails);

} // namespace repro_minify
