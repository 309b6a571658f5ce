// Shared libraries of operators that are no part of PyTorch (--load-library).
#pragma once
#include <string>
#include <vector>

namespace repro_minify {

/// Into this process, once each, and so into all it forks. Throws UserError, which names the option.
void load_operator_libraries(const std::vector<std::string> &paths);
/// Returns the names of the libraries beside a repro: "operators.so", "operators-2.so", ...
std::vector<std::string> names_of_libraries(const std::vector<std::string> &paths);

/// The operator that an error of LibTorch's compiler says it does not know; empty: none.
std::string unknown_operator_in(const std::string &message);

} // namespace repro_minify
