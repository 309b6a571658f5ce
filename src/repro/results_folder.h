// The files in the results folder: those of this run, those of an earlier run, and all others.
#pragma once
#include <string>

namespace repro_minify {

/// Notes what lies in the folder before this run writes, and locks it if it exists. Throws as lock_results() does.
void begin_results(const std::string &folder);
/// Locks the folder until this process ends, so that one process at a time writes into it. Throws UserError if another
/// one does.
void lock_results(const std::string &folder);
/// True for a regular file that this run has written: not the one that lay there before.
bool is_of_this_run(const std::string &path);
/// Removes what an earlier run left, by its names, if a journal says that there was one. Other files stay.
void remove_earlier_results(const std::string &folder);

} // namespace repro_minify
