// Objects of C++ classes, such as the packed parameters of a quantised operator: values without attributes that a graph
// could read.
#pragma once
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <string>

namespace repro_minify {

bool is_opaque_class(const c10::TypePtr &type);
bool is_opaque_object(const c10::IValue &value);
/// True if there is such an object in a value.
bool holds_object(const c10::IValue &value);

/// A copy by the object's own __getstate__ and __setstate__; packed parameters themselves, as nothing writes to them.
c10::IValue copy_of_object(const c10::IValue &object);

/// Returns a digest of the object's content, as far as the object can say what that is; empty where it cannot.
const std::string &digest_of_object(const c10::IValue &object);

} // namespace repro_minify
