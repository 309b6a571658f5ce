// torch.save as it was before 1.6, and with _use_new_zipfile_serialization=False: pickles and the bytes of storages,
// one behind the other.
#pragma once

#include "program/pickle.h"

#include <map>

namespace repro_minify::pickle {

struct LegacyFile {
  Document document;
  std::map<std::string_view, std::string_view> storages; ///< bytes by key
};

/// True if these are the first bytes of such a file.
bool is_legacy_file(std::string_view bytes);
/// Throws CannotRead.
LegacyFile read_legacy_file(std::string_view bytes);

} // namespace repro_minify::pickle
