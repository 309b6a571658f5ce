// What a reduction asks before any answer has a say in it.
#pragma once
#include "repro_minify/check.h"
#include "repro_minify/record.h"

#include <memory>
#include <optional>

namespace repro_minify {

/// Of the Program of that Recording, should an output be wrong: which value is the first to be. Nothing where the
/// program is too small for the question.
std::optional<Program> first_question(const std::shared_ptr<const Recording> &recording);

/// Whether a reduction that looks for this failure asks it.
bool is_asked_first_question(const Signature &wanted);

} // namespace repro_minify
