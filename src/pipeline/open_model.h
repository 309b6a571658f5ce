// How long, and with how much memory, a stranger's files are read.
#pragma once

#include "pipeline/convert.h"
#include "repro_minify/minify_options.h"

#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// At least one millisecond: none would mean no limit.
std::chrono::milliseconds limit_of(double seconds);

/// Bytes that a check may add.
std::uint64_t memory_limit(const MinifyOptions &options);

/// To read the model and its inputs is a check like any other.
Limits reading_limits(const MinifyOptions &options);

// The folder that a job writes into. Nothing that exists is touched unless the user said so.

/// Refuses before any work is done. Throws UserError.
void require_free(const std::string &folder, bool force);

/// Only when there is something to write. Throws UserError.
void make_folder(const std::string &folder);

// From what the user named to TorchScript: what is something else is converted first, and may hold several graphs.

/// The options for each graph of a model: those given, with its Conversion, and with what that brings along. For
/// TorchScript one, without a Conversion. A graph that could not be converted is among several, but never alone. Throws
/// UserError.
std::vector<MinifyOptions> open_model(const std::string &path, const MinifyOptions &options);

/// Returns the options for the only graph, or for the one of several that fails: each is checked once, and what came of
/// it is said. Nothing if none fails; throws UserError if more than one does, or if none could be checked.
std::optional<MinifyOptions> open_one_graph(const std::string &path, const MinifyOptions &options);

/// The part of the options that convert() takes.
ConvertOptions convert_options(const MinifyOptions &options, ModelKind kind);

/// "none of its 5 graphs fails under inductor"
std::string none_fails(const std::string &path);

/// Why a graph could not be converted, as a sentence about it.
std::string problem_of(const Conversion &conversion);

} // namespace repro_minify
