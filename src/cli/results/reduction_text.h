// How a search went, for people.
#pragma once
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

/// A row for each pass that tried anything.
std::string passes_table(const Reduction &reduction);
/// A row for each phase of the whole job.
std::string phases_table(const ReproFacts &facts);

} // namespace repro_minify
