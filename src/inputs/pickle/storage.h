// A storage as torch.save names it: ('storage', torch.FloatStorage, '0', 'cpu', 12, ...).
#pragma once
#include "inputs/pickle/value.h"

#include <optional>

namespace repro_minify::pickle {

struct StorageId {
  std::string_view type;     ///< "FloatStorage"
  std::string_view key;      ///< names its bytes in the file
  std::string_view location; ///< "cpu", "cuda:0"
  size_t element_size = 1;
};

/// Throws CannotRead for what refers to something else.
StorageId storage_id(const Value &persistent);

} // namespace repro_minify::pickle
