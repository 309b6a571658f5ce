// How repro.py fares under other versions of PyTorch, and which side moved between them.
#pragma once
#include "repro_minify/repro.h"

#include <functional>
#include <string>
#include <vector>

namespace repro_minify {

/// Runs the verified repro.py of the folder `results` in `python`, the interpreter that it was verified in, and in each
/// of `others`. The answer of `python` is first. One that cannot be asked has a row that says why.
std::vector<VersionRow> ask_versions(const ReproFacts &facts, const std::string &results, const std::string &python,
                                     const std::vector<std::string> &others, const std::function<bool()> &interrupted);

/// Returns a sentence or two: "Right in PyTorch 2.12.1, wrong in 2.13.0 and 2.15.0. From 2.12.1 to 2.13.0 the compiled
/// result changed, eager's did not."; empty where no version was asked.
std::string versions_sentence(const ReproFacts &facts);

/// True if an earlier version is right, and it was not eager that changed since.
bool is_regression(const ReproFacts &facts);

} // namespace repro_minify
