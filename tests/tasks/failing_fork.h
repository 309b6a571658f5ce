// A machine that has no room for another process: fork() as the program calls it, in this binary alone.
#pragma once

namespace repro_minify::testing_support {

/// So many calls of fork() fail from now on, as on a machine that is full.
void fail_forks(int count);
/// Returns how many have failed so far.
int failed_forks();

} // namespace repro_minify::testing_support
