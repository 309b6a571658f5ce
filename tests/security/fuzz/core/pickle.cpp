// A pickle and all that is asked about its values: whoever gives inputs has written it.
#include "pickle/array.h"
#include "pickle/depth.h"
#include "pickle/storage.h"
#include "security/fuzz/harness.h"

namespace repro_minify::fuzz {
namespace {

/// What one value does not stand for says nothing of the next.
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
