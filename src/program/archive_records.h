// Checks that an archive's records are what they say they are, before LibTorch, which believes them, reads it.
#pragma once
#include <string>

namespace repro_minify {

/// Throws UserError: a tensor reaches beyond the record that holds its data, values are nested without end, there is
/// too much code. For a child: it reads what a stranger wrote.
void require_sound_records(const std::string &path);

} // namespace repro_minify
