// The first lines of issue.md: under what else it fails, and without what it is right.
#pragma once
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

/// Markdown, one paragraph: the rung of torch.compile's ladder where the failure begins, the step without which it is
/// gone, the settings that change something. Where nothing of that is known: what is wrong, in a sentence.
std::string evidence(const Program &program, const ReproFacts &facts);

/// "Wrong value: off by 8 units in the last place ...", with a space before it; empty where the failure is no
/// difference of values.
std::string nature_sentence(const ReproFacts &facts);

} // namespace repro_minify
