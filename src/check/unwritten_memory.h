// The content of memory that was allocated and never written. It is garbage, and a program that reads it answers
// otherwise in each run; here it holds the same in every run, until it is asked to hold something else.
#pragma once

namespace repro_minify {

enum class Fill { Usual, Other };
inline Fill other(Fill fill) {
  return fill == Fill::Usual ? Fill::Other : Fill::Usual;
}

/// The value that the C library's allocator is given for Fill::Usual (mallopt's M_PERTURB, which fills what is freed
/// with this byte, and what is allocated with its complement).
inline constexpr int usual_perturbation = 85;

/// From now on, in this process. Reaches what malloc and posix_memalign hand out, and so tensors on the CPU, but for
/// some of up to 1 KiB: what glibc hands out of its cache for a thread is not filled. Where the C library is not glibc,
/// and on other devices, it reaches nothing.
void fill_unwritten_memory(Fill fill);

} // namespace repro_minify
