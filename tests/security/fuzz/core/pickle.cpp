// Fuzzes the reader of pickles and all that is asked about their values: the author of the inputs has written them.
#include "program/pickle.h"
#include "security/fuzz/harness.h"

namespace repro_minify::fuzz {
namespace {

/// Asks one question. A value that cannot be read is passed over, as it says nothing of the next.
template <typename Ask> void ask(const Ask &question) {
  try {
    question();
  } catch (const pickle::CannotRead &) {
  }
}

void try_pickle(std::string_view bytes) {
  ask([&] {
    const pickle::Document document = pickle::read(bytes);
    require(document.size <= bytes.size(), "a pickle ends behind its bytes");
    pickle::is_deeper_than(document, 500);
    for (const auto &value : document.values) {
      value.name();
      ask([&] { pickle::storage_id(value); });
      ask([&] { pickle::array_of(value); });
    }
  });
}

const Registered registered_pickle({"pickle", try_pickle});

} // namespace
} // namespace repro_minify::fuzz
