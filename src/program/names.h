// The one place that makes names: every text that is written of a Program (C++, TorchScript, Python, DOT) has its
// inputs, parameters and buffers under the same name, and that is a name in all of these languages.
#pragma once

#include <string>

namespace repro_minify {

/// An identifier for text from a model: letters, digits and single underscores, none of them first or last, about 60
/// characters at most; never a keyword, a macro, or a name that a language, LibTorch or a repro's own text gives a
/// meaning. The same again for what it has made itself. Different texts may get the same one.
std::string to_identifier(const std::string &text);

} // namespace repro_minify
