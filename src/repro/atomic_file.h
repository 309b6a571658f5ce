// Files are written whole or not at all: beside the target first, then renamed.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace repro_minify {

/// Throws UserError, naming the file, when it cannot be written.
void write_atomically(const std::string &path, std::string_view contents);

/// Called before each step, for a test that ends the process there.
using BeforeStep = std::function<void(const char *step)>;

/// Two files that belong together. `first` has to be enough by itself, for there is a moment when `second` is missing.
/// Whenever this process is killed, a new file never lies beside an old one: the old second goes, the new first comes,
/// then the new second. `durable`: not when the machine stops either, which costs some 30 ms. Throws UserError.
using PairOfFiles = std::pair<std::string, std::string>; // paths in one folder
void write_pair(const PairOfFiles &pair, std::string_view first, std::string_view second, bool durable,
                const BeforeStep &before = {});

} // namespace repro_minify
