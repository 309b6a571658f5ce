// The words that go with a Verdict: how much was compiled, and what the rule in force lets pass.
#pragma once

#include "repro_minify/backend.h"
#include "repro_minify/check.h"

#include <string>

namespace repro_minify {

// How much of a program a backend compiled, in words.

/// "compiled: 2 operators; not compiled: aten::sort, aten::cat 3x (why)". Names are as the program has them.
std::string coverage_text(const Coverage &coverage);

// The differences that the comparison rule in force accepts and a person may not, in words.

/// "output[1] differs, nearer to float64 than eager", or "output differs by up to 18, and holds no floating-point
/// numbers": PyTorch's `same` takes float64 for the truth, allows whole numbers a relative tolerance, and skips bools.
/// "output differs by up to 0.08, and its RMSE against float64 is 0.03 where eager's is 0.02": eager is no better.
/// Empty where no such value is known. Names are as the program has them.
std::string let_pass_text(const Verdict &verdict);

/// True if one of whole numbers or bools differs, and the rule in force lets that pass: no rounding may explain it.
bool lets_whole_numbers_pass(const Verdict &verdict);

} // namespace repro_minify
