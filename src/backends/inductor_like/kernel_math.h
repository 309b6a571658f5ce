// The elementary functions of kernels. ATen computes them with MKL and SLEEF; kernels that used another library would
// differ from eager in the last bit. So they call those too, as they are in the LibTorch of the process.
#pragma once

#include <string>

namespace repro_minify {

/// Declarations of `math_expf` and friends, for the top of a file of kernels: vectorised by the compiler where the
/// processor has AVX2.
const std::string &vector_math_declarations();
/// A source file that defines them: by MKL's functions, if it is there, where ATen has them from MKL, and by SLEEF's.
/// Needs AVX2.
const std::string &vector_math_source(bool mkl);
/// The same names as functions of the C library, for where there is no SLEEF.
const std::string &plain_math();
/// Returns those of plain_math() that the C library has no name for: `math_looped_expf`, `math_vectorized_expf`.
const std::string &plain_math_variants();
/// True if a function of that name ("exp", "vectorized_exp") is among them.
bool has_vector_math(const std::string &function);
/// True if the function that kernels call by this name (`math_expf`) is faster for many numbers at once, which
/// `math_array_expf(const float *x, float *y, int64_t count)` computes: the same bits.
bool has_array_function(const std::string &call);
/// The name of that one.
std::string array_function(const std::string &call);

// Small functions that generated kernels call, the same for the processor and for CUDA.

/// Those that the kernels mention.
std::string helpers_of(const std::string &kernels, bool on_cuda = false);

} // namespace repro_minify
