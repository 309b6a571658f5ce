// Tells the files in the results folder apart: those of this run, those of an earlier run, and all others.
#pragma once
#include <string>

namespace repro_minify {

/// Before anything is written: what lies there already is not of this run.
void begin_results(const std::string &folder);
/// One process at a time writes into a folder, from here on until it ends. Throws UserError when another one does.
void lock_results(const std::string &folder);
/// True if this run has written it: a file, no link, and not the one that lay there before.
bool is_of_this_run(const std::string &path);
/// Removes what an earlier run left, by its names, if a journal says that there was one. Other files stay.
void remove_earlier_results(const std::string &folder);

} // namespace repro_minify
