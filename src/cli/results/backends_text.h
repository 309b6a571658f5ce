// Lists the backends that --backend takes, and says which of them can be used on this machine.
#pragma once
#include "repro_minify/backend.h"

#include <string>

namespace repro_minify {

/// A table. Runs what it takes to find out, a Python with torch for one.
std::string backends_text(const BackendOptions &options);
/// The same for scripts.
std::string backends_json(const BackendOptions &options);

} // namespace repro_minify
