// Paths on the machine that built the tests. Each test binary has a file of its own with the values, which
// tests/CMakeLists.txt writes: no other file then depends on where a clone lies, and a compiler cache serves them all.
#pragma once

namespace repro_minify::test_paths {

// Programs.
extern const char *const program;          ///< repro-minify
extern const char *const python;           ///< an interpreter that has torch; empty where there is none
extern const char *const cxx;              ///< the compiler that built the tests
extern const char *const without_landlock; ///< starts another program so

// Folders.
extern const char *const fixtures;
extern const char *const corpora;
extern const char *const scripts;
extern const char *const torch_dir;                ///< of TorchConfig.cmake
extern const char *const test_repros;              ///< in which the reductions of the cases stay
extern const char *const odd_plugins;              ///< with a shared library for each oddity
extern const char *const pretended_cuda_of_python; ///< for PYTHONPATH

// Scripts beside the tests.
extern const char *const judge;
extern const char *const every_deletion;
extern const char *const odd_models;
extern const char *const planted_faults;
extern const char *const onnxruntime_model;

// Shared libraries.
extern const char *const crashing_library;
extern const char *const fake_nvrtc;
extern const char *const fake_driver;
extern const char *const endless_parent;
extern const char *const pretended_cuda;
extern const char *const example_plugin;
extern const char *const odd_operators;

extern const char *const torch_flags; ///< for a compiler that is to find LibTorch's headers

} // namespace repro_minify::test_paths
