// `scripts/test.sh --all` runs what CI does not: tests that show on more models, or more often, what others show in a
// tenth of the time.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>

namespace repro_minify {

/// True if `scripts/test.sh --all` runs the tests: it sets REPRO_MINIFY_ALL_TESTS.
inline bool everything_is_asked_for() {
  return std::getenv("REPRO_MINIFY_ALL_TESTS") != nullptr;
}

/// Returns the first number, or the second if everything is asked for: how many cases a test draws or tries.
inline int how_many(int usually, int where_everything_is_asked_for) {
  return everything_is_asked_for() ? where_everything_is_asked_for : usually;
}

/// The first line of a test that is skipped otherwise. A macro, as it returns.
#define SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR()                                                                          \
  if (!everything_is_asked_for())                                                                                      \
  GTEST_SKIP() << "scripts/test.sh --all runs it"

} // namespace repro_minify
