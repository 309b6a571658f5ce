// How a wrong result comes about: the change of the program with which eager gives it too.
#pragma once
#include "repro_minify/repro.h"

#include <optional>
#include <string>

namespace repro_minify {

/// Asks a backend that is used from Python which change of the reduced program gives in eager what the backend gives,
/// for its inputs and for others (backends/inductor/explanation.py). Nothing where there is none that is tried, where
/// the failure is not one of results alone. Throws std::runtime_error where there is no answer.
std::optional<Explanation> find_explanation(const Program &program, const ReproFacts &facts, const Limits &limits);

/// Returns a sentence of Markdown: "What is found is what eager gives if `x[:1] = 9` ran before `y.add_(1)`."; empty
/// where no explanation is known.
std::string explanation_sentence(const ReproFacts &facts);

} // namespace repro_minify
