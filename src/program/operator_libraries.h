// Operators that LibTorch's registry gains or loses for a model.
#pragma once

#include <string>
#include <vector>

namespace repro_minify {

// Shared libraries of operators that are no part of PyTorch (--load-library).

/// Loads the libraries into this process, and so into all that it forks. Throws UserError, which names the option.
void load_operator_libraries(const std::vector<std::string> &paths);
/// Returns the names of the libraries beside a repro: "operators.so", "operators-2.so", ...
std::vector<std::string> names_of_libraries(const std::vector<std::string> &paths);

/// Returns the operator that an error of LibTorch's compiler says it does not know; empty if it says none.
std::string unknown_operator_in(const std::string &message);

// Operators that reach out of a model: into files, or to other processes. No model has them here.

/// Takes them out of LibTorch's registry, once, for this process and all it forks: code that names one does not
/// compile, under whatever alias it calls it, and so nothing of it runs.
void forget_forbidden_operators();
/// Returns the forbidden operator that an error of LibTorch's compiler says it does not know; empty if it says none.
std::string forbidden_operator_in(const std::string &message);

// x.view(torch.int32) in a TorchScript program.

/// Views of a tensor's memory as another dtype. In TorchScript a dtype is an int, and torch.view(x, 3) is a view of
/// another shape: aten::view.dtype cannot be said. PyTorch's own name for it that can be is an operator that Python
/// registers when torch is imported.
inline constexpr const char *dtype_view_name = "prims::view_of_dtype";

/// Registers it in this process, once, as Python does. Only where a program calls it: a plugin may bring a Python of
/// its own, which registers it itself.
void register_dtype_view();

// The LibTorch that this process runs with.

/// Returns the version of the LibTorch that is loaded ("2.14.0"). A program serves every patch version of the one that
/// it was compiled for, so that TORCH_VERSION may be another.
std::string libtorch_version();

// LibTorch's CUDA part, loaded where a device asks for it.

/// Loads libtorch_cuda.so from the folder of the LibTorch that this process runs with, which registers its kernels.
/// Nothing calls it by name, and loading takes a second, so no program is linked with it: one that was built against a
/// LibTorch for the CPU alone uses CUDA too, and on the CPU none pays for it. Returns why it cannot be loaded; empty if
/// it is loaded, something else has registered CUDA, or there is none. To be called before LibTorch is first asked
/// about CUDA: what it finds then stays.
std::string load_cuda_library();

} // namespace repro_minify
