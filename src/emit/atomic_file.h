// Files are written whole or not at all: beside the target first, then renamed.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace repro_minify {

/// Throws UserError, naming the file, when it cannot be written.
void write_atomically(const std::string &path, std::string_view contents);

/// What happens next, for a test that ends the process there.
using BeforeStep = std::function<void(const char *step)>;

/// Two files that are one thing. `first` has to be enough by itself, for there is a moment when `second` is not there.
/// There is none when one is new and the other old, whenever this process is killed: the old second goes, the new first
/// comes, then the new second. `durable`: nor when the machine stops, which costs some 30 ms. Throws UserError.
struct PairOfFiles {
  std::string first, second; ///< paths in one folder
};
void write_pair(const PairOfFiles &pair, std::string_view first, std::string_view second, bool durable,
                const BeforeStep &before = {});

} // namespace repro_minify
