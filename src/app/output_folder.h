// The folder that a command writes into. Nothing that exists is touched without --force.
#pragma once
#include "app/options.h"

#include <string>

namespace repro_minify {

/// --output, or the model's path with `extension` instead of ".pt".
std::string output_folder(const Options &options, const std::string &extension);

/// Refuses before any work is done. Throws UserError.
void require_free(const std::string &folder, bool force);

/// Only when there is something to write. Throws UserError.
void make_folder(const std::string &folder);

} // namespace repro_minify
