// The files in the results folder: those of this run, those of an earlier run, and all others.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace repro_minify {

/// Notes what lies in the folder before this run writes, and locks it if it exists. Throws as lock_results() does.
void begin_results(const std::string &folder);
/// Locks the folder until this process ends, so that one process at a time writes into it. Throws UserError if another
/// one does.
void lock_results(const std::string &folder);
/// True for a regular file that this run has written: not the one that lay there before.
bool is_of_this_run(const std::string &path);
/// Throws UserError if the file is one that results in the folder would be written over, by its name.
void require_no_result(const std::string &path, const std::string &folder);
/// Removes what an earlier run left, by its names, if a journal says that there was one. Other files stay.
void remove_earlier_results(const std::string &folder);

// Files are written whole or not at all: beside the target first, then renamed.

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
