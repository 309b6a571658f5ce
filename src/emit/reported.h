// What the reports for scripts and those for people both say.
#pragma once
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// Whether there is a repro.cpp: of what an oracle finds interesting there is none.
bool has_cpp(const ReproFacts &facts);
/// As TorchScript, or as the graph itself where it has no source.
std::string program_text(const Program &program);
/// What `one_minimal` is about, beside operators, inputs and outputs: an array of {pass, what}.
nlohmann::json simplifications_json();

} // namespace repro_minify
