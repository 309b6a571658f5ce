// Values as bytes and back: what one process of ours hands to another.
#pragma once
#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace repro_minify {

/// Undefined tensors included; tensors that share storage still do when they are back. Throws c10::Error for what the
/// pickler does not take.
std::vector<char> pickled(const c10::IValue &value);
/// Throws c10::Error.
c10::IValue unpickled(std::string_view bytes);

} // namespace repro_minify
