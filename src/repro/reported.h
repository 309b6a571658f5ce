// The contents that the reports for scripts and those for people share.
#pragma once
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// True if there is a repro.cpp: there is none for what an oracle finds interesting.
bool has_cpp(const ReproFacts &facts);
/// Returns the program as TorchScript, or as the graph itself where it has no source.
std::string program_text(const Program &program);
/// Returns the simplifications that `one_minimal` is about, beside operators, inputs and outputs: an array of {pass,
/// what}.
nlohmann::json simplifications_json();

} // namespace repro_minify
