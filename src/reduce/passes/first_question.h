// The question that a reduction asks first, before it has any answer.
#pragma once
#include "repro_minify/check.h"
#include "repro_minify/record.h"

#include <memory>
#include <optional>

namespace repro_minify {

/// Returns the Program of that Recording with every value as an output, to ask which is the first wrong one. Nothing
/// where the program is too small for the question.
std::optional<Program> first_question(const std::shared_ptr<const Recording> &recording);

/// True if a reduction that looks for this failure asks it.
bool is_asked_first_question(const Signature &wanted);

} // namespace repro_minify
