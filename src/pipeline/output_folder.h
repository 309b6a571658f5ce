// The folder that a job writes into. Nothing that exists is touched unless the user said so.
#pragma once
#include <string>

namespace repro_minify {

/// Refuses before any work is done. Throws UserError.
void require_free(const std::string &folder, bool force);

/// Only when there is something to write. Throws UserError.
void make_folder(const std::string &folder);

} // namespace repro_minify
