// Operators that reach out of a model: into files, or to other processes. No model has them here.
#pragma once
#include <string>

namespace repro_minify {

/// Takes them out of LibTorch's registry, once, for this process and all it forks: code that names one does not
/// compile, under whatever alias it calls it, and so nothing of it runs.
void forget_forbidden_operators();
/// The one that an error of LibTorch's compiler names; empty: none.
std::string forbidden_operator_in(const std::string &message);

} // namespace repro_minify
