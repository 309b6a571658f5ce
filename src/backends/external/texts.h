// The .inc files beside this one as text, for repro.cpp.
#pragma once

namespace repro_minify {

extern const char *const plugin_program_text;
extern const char *const command_program_text;

} // namespace repro_minify
