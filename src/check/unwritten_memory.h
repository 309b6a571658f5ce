// Memory that was allocated and never written. What it holds is garbage, and a program that reads it gives another
// result in each run; here it holds the same in every run, until it is filled with something else.
#pragma once

namespace repro_minify {

enum class Fill { Usual, Other };

/// The value that the C library's allocator is given for Fill::Usual (mallopt's M_PERTURB, which fills what is freed
/// with this byte, and what is allocated with its complement).
inline constexpr int usual_perturbation = 85;

/// Has the allocator of this process fill memory from now on. Reaches what malloc and posix_memalign hand out, and so
/// tensors on the CPU, but for some of up to 1 KiB, which glibc hands out of its cache for a thread. Has no effect
/// where the C library is not glibc, and on other devices.
void fill_unwritten_memory(Fill fill);

} // namespace repro_minify
