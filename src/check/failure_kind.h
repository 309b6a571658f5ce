// The words of a Signature that are the same for every part of the project. No LibTorch here.
#pragma once

namespace repro_minify {

/// What went wrong, from the most to the least telling: where a comparison finds several, the first of these names it.
enum class FailureKind { Crash, Hang, Memory, Exception, Structure, Shape, Nan, Gradient, Accuracy, Dtype };
const char *to_string(FailureKind kind);

} // namespace repro_minify
