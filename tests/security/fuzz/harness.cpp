#include "security/fuzz/harness.h"

#include <utility>

namespace repro_minify::fuzz {
namespace {

/// Files register in no certain order: the first makes the list.
std::vector<Harness> &list() {
  static std::vector<Harness> all;
  return all;
}

} // namespace

Registered::Registered(Harness harness) {
  list().push_back(std::move(harness));
}

const std::vector<Harness> &harnesses() {
  return list();
}

} // namespace repro_minify::fuzz
