// Where things are on the machine that built the tests. Each test binary has a file of its own with the values, which
// tests/CMakeLists.txt writes: no other file then depends on where a clone lies, and a compiler cache serves them all.
#pragma once

namespace repro_minify::test_paths {

// Programs.
extern const char *const program; ///< repro-minify
extern const char *const python;  ///< an interpreter that has torch; empty where there is none
extern const char *const cxx;     ///< the compiler that built the tests

// Folders.
extern const char *const fixtures, *const corpora, *const scripts;
extern const char *const torch_dir;   ///< of TorchConfig.cmake
extern const char *const test_repros; ///< in which the reductions of the cases stay
extern const char *const odd_plugins; ///< with a shared library for each oddity

// Scripts beside the tests.
extern const char *const judge, *const every_deletion, *const list_operators, *const odd_models,
                                                                                  *const onnxruntime_model;

// Shared libraries.
extern const char *const crashing_library,
    *const fake_nvrtc, *const fake_driver, *const endless_parent, *const pretended_cuda, *const example_plugin,
                                                                                             *const odd_operators;

extern const char *const torch_flags; ///< for a compiler that is to find LibTorch's headers

} // namespace repro_minify::test_paths
