// Digests of values, bit for bit: two with the same digest are the same to any program.
#pragma once
#include "core/digest.h"

#include <ATen/core/ivalue.h>

#include <string>

namespace repro_minify {

/// Adds all that a program can see of a value but which others share its memory: types, sizes, strides, offset, layout,
/// requires_grad, quantiser, and every byte. A value whose bytes cannot be read here (on another device, in oneDNN's
/// format, an object of C++) is equal to itself alone, and to nothing in another process. Returns true if all was read.
bool add_value(Digest &digest, const c10::IValue &value);

/// Returns the digest of one value; empty where not all of it could be read.
std::string digest_of(const c10::IValue &value);

} // namespace repro_minify
