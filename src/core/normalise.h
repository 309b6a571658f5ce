// Takes out of an exception's message what differs from run to run.
#pragma once
#include <string>

namespace repro_minify {

/// Addresses, paths, names of values and numbers become signs, lists of numbers one, and white space one blank: the
/// same for every shape, machine and build. A number that is part of a name (int64, BFloat16), or is one ("op_type:
/// 24"), says what is wrong, and stays. 300 bytes at most. Takes time and stack in no other way than a loop over the
/// text does: a model may raise megabytes of anything.
std::string without_particulars(const std::string &message);

} // namespace repro_minify
