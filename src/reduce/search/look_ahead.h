// Which questions come next: the one place of the search that knows about speculation.
#pragma once
#include "reduce/search/answers.h"
#include "reduce/search/search_stages.h"

namespace repro_minify {

/// The likeliest next questions of a search that stands at `from`, likeliest first, at most `count`. The first is the
/// one the search is about to ask. Works by running the search itself ahead against guessed answers, so it cannot drift
/// from what the stages really ask.
std::vector<IndexSet> likely_questions(const Stage &from, const SearchContext &context, const Answers &known,
                                       int count);

} // namespace repro_minify
