#include "program/libtorch_version.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/version.h>

#include <cstdint>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <system_error>

namespace repro_minify {
namespace {

/// Returns the folder of the libtorch_cpu.so that is loaded; empty where it is linked into the program.
std::filesystem::path folder_of_libtorch() {
  void *handle = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  link_map *map = nullptr;
  if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
    return {};
  const std::filesystem::path folder = std::filesystem::path(map->l_name).parent_path();
  dlclose(handle);
  return folder;
}

} // namespace

std::string libtorch_version() {
  const uint64_t loaded = aoti_torch_abi_version(); // a byte each, from the top
  if (loaded == TORCH_ABI_VERSION)
    return TORCH_VERSION;
  std::string text;
  for (const int shift : {56, 48, 40})
    text += (text.empty() ? "" : ".") + std::to_string(loaded >> shift & 0xff);
  return text;
}

std::string load_cuda_library() {
  if (at::CUDAHooksRegistry()->Has("CUDAHooks"))
    return "";
  const std::filesystem::path folder = folder_of_libtorch(), library = folder / "libtorch_cuda.so";
  std::error_code unknown;
  if (folder.empty() || !std::filesystem::exists(library, unknown))
    return "";
  return dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) ? "" : dlerror();
}

} // namespace repro_minify
