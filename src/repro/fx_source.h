// A program of torch.fx as lines of Python, for the reports. (repro.py is written by Python itself.)
#pragma once
#include "repro_minify/program.h"

#include <string>

namespace repro_minify {

/// Returns a function `f` of the program's inputs, a line for each call. Names and texts of a model are in it as they
/// are: the caller escapes them.
std::string fx_source(const Program &program);

} // namespace repro_minify
