// Digests of values, bit for bit: two with the same digest are the same to any program.
#pragma once
#include "core/digest.h"
#include "repro_minify/program.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace repro_minify {

/// Adds all that a program can see of a value but which others share its memory: types, sizes, strides, offset, layout,
/// requires_grad, quantiser, and every byte. A value whose bytes cannot be read here (on another device, in oneDNN's
/// format, an object of C++) is equal to itself alone, and to nothing in another process. Returns true if all was read.
bool add_value(Digest &digest, const c10::IValue &value);

/// Returns the digest of one value; empty where not all of it could be read.
std::string digest_of(const c10::IValue &value);

// The canonical form: the text that two reduced programs have in common when they show one bug.

/// "aten::add(aten::mul(a:float32, +f), a)": operators, the dtypes of inputs, and the arguments that are not the
/// operator's default. No names, no sizes, no roles; a number only as None, 0, 1, -1, NaN, Inf, or its type and sign.
/// The order of nodes, outputs and commutative operands is not in it, but that of what is done for its effect alone is.
/// It tells bugs apart, as canonical_hash tells Programs apart. Beyond 1000 nodes it is their number and a digest.
std::string canonical_form(const Program &program);

/// The operators, nested blocks included, sorted, each once.
std::vector<std::string> operators_of(const Program &program);

/// How many results of operators are read by more than one reader, of which the caller is one. In a minimal program
/// each of them has to be: a chain of operators is another failure than the same one in whose middle a result is kept.
int count_shared_results(const Program &program);

} // namespace repro_minify
