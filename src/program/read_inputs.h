// The inputs of a model: from a file of whichever kind people have, or drawn as --input says.
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

// A file of inputs, of whichever kind people have: torch.save's two formats, numpy's .npy, pickle.dump's.

/// Returns the saved value as it was: a tensor, a list, tuple or dict. Nothing in the file is executed. Throws
/// UserError, which says what is wrong with the file, or what it is instead.
c10::IValue read_inputs(const std::string &path);
/// The same from the bytes of a file; `origin` is what to call it.
c10::IValue read_inputs(const std::string &bytes, const std::string &origin);

/// The name of the inputs that reduced.pt was written with among what it holds (its "extra files").
inline constexpr const char *inputs_inside_name = "inputs.pt";
/// Their file's bytes; nothing for an archive without.
std::optional<std::string> inputs_inside(const std::string &archive);

std::string bytes_of(const std::string &path);
/// Throws UserError unless there is something to read.
void require_file(const std::string &path);

// Inputs that --input describes: f32[2,3,32,32], i64[4,16]@0:50.

/// A tuple of seeded tensors, one for each text. Those that can require grad do if `requires_grad`. Throws UserError.
c10::IValue inputs_from_specs(const std::vector<std::string> &specs, uint64_t seed, bool requires_grad);

} // namespace repro_minify
