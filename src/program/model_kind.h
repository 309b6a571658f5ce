// The kind of a file that was given as a model, told by what is in it.
#pragma once
#include <string>

namespace repro_minify {

enum class ModelKind {
  TorchScript,
  Export,  ///< .pt2 of torch.export
  Program, ///< Python that torch.compile left behind: repro.py and the like
  Log,     ///< of TORCH_TRACE, or the folder that tlparse makes of one
};
/// "a torch.export archive"
const char *to_string(ModelKind kind);

/// Throws UserError for everything else, with what it is and what to do. A child asks first: a stranger wrote it.
ModelKind kind_of_model(const std::string &path);

} // namespace repro_minify
