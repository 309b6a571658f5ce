// An array of numpy in a file of its own.
#include "program/pickle.h"
#include "security/fuzz/harness.h"

namespace repro_minify::fuzz {
namespace {

void try_npy(std::string_view bytes) {
  pickle::is_npy(bytes);
  try {
    const pickle::Array array = pickle::read_npy(bytes);
    require(array.data().size() <= bytes.size(), "an array is larger than its file");
  } catch (const pickle::CannotRead &) {
  }
}

const Registered registered_npy({"npy", try_npy});

} // namespace
} // namespace repro_minify::fuzz
