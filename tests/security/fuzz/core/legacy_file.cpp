// A file of torch.save as it was before 1.6.
#include "program/pickle.h"

#include "security/fuzz/harness.h"

namespace repro_minify::fuzz {
namespace {

void try_legacy_file(std::string_view bytes) {
  pickle::is_legacy_file(bytes);
  try {
    for (const auto &[key, storage] : pickle::read_legacy_file(bytes).storages)
      require(storage.empty() || (storage.begin() >= bytes.begin() && storage.end() <= bytes.end()),
              "a storage lies outside its file");
  } catch (const pickle::CannotRead &) {
  }
}

const Registered registered_legacy_file({"legacy_file", try_legacy_file});

} // namespace
} // namespace repro_minify::fuzz
