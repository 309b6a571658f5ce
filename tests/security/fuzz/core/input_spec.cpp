// The text of --input, which scripts make of what they are given.
#include "program/input_spec_text.h"

#include "security/fuzz/harness.h"

#include <algorithm>
#include <stdexcept>

namespace repro_minify::fuzz {
namespace {

void try_input_spec(std::string_view bytes) {
  try {
    const InputSpec spec = read_input_spec(std::string(bytes));
    require(std::ranges::all_of(spec.sizes, [](auto size) { return size >= 0; }), "a size is negative");
    require(!spec.range || spec.range->first < spec.range->second, "a range is empty");
  } catch (const std::invalid_argument &) {
  }
}

const Registered registered_input_spec({"input_spec", try_input_spec});

} // namespace
} // namespace repro_minify::fuzz
