#include "program/operator_libraries.h"

#include "program/compute.h"
#include "program/read_inputs.h"
#include "repro_minify/program.h"
#include "repro_minify/sandbox.h"

#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/library.h>
#include <torch/version.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <dlfcn.h>
#include <link.h>

namespace repro_minify {

void load_operator_libraries(const std::vector<std::string> &paths) {
  for (const auto &path : paths) {
    require_file(path);
    let_children_read(path);
    std::error_code unknown;
    // Never closed: what it has registered points into it. Loaded twice it is the same library.
    if (!dlopen(std::filesystem::absolute(path, unknown).c_str(), RTLD_NOW | RTLD_GLOBAL))
      throw UserError("--load-library " + path + ": cannot be loaded: " + first_sentence(dlerror()));
  }
}

std::vector<std::string> names_of_libraries(const std::vector<std::string> &paths) {
  std::vector<std::string> names;
  for (size_t i = 0; i < paths.size(); ++i)
    names.push_back("operators" + (i == 0 ? std::string() : "-" + std::to_string(i + 1)) + ".so");
  return names;
}

std::string unknown_operator_in(const std::string &message) {
  for (const std::string_view words : {"Unknown builtin op: ", "Unknown operator: "}) {
    const auto at = message.find(words);
    if (at == std::string::npos)
      continue;
    size_t end = at + words.size();
    while (end < message.size() &&
           (std::isalnum(static_cast<unsigned char>(message[end])) || message[end] == '_' || message[end] == ':'))
      ++end;
    std::string name = message.substr(at + words.size(), end - at - words.size());
    while (!name.empty() && name.back() == ':')
      name.pop_back();
    return name;
  }
  return "";
}

namespace {

constexpr std::string_view forbidden_names[] = {"aten::save", "aten::from_file", "prim::rpc_sync", "prim::rpc_async",
                                                "prim::rpc_remote"};
/// Namespaces of operators for processes that compute together, and for a debugger's files.
constexpr std::string_view forbidden_namespaces[] = {"c10d", "symm_mem", "debugprims", "_c10d_functional",
                                                     "_c10d_functional_autograd"};

bool is_forbidden(std::string_view name) {
  const auto is = [&](std::string_view other) { return name == other; };
  const auto is_in = [&](std::string_view space) { return name.substr(0, name.find("::")) == space; };
  return std::any_of(std::begin(forbidden_names), std::end(forbidden_names), is) ||
         std::any_of(std::begin(forbidden_namespaces), std::end(forbidden_namespaces), is_in);
}

at::Tensor view_of_dtype(const at::Tensor &tensor, at::ScalarType dtype) {
  return tensor.view(dtype);
}

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

void forget_forbidden_operators() {
  [[maybe_unused]] static const bool once = [] {
    std::vector<c10::FunctionSchema> schemas;
    for (const auto &known : torch::jit::getAllOperators())
      if (is_forbidden(known->schema().name()))
        schemas.push_back(known->schema());
    for (const auto &schema : schemas)
      torch::jit::deregisterOperator(schema);
    return true;
  }();
}

std::string forbidden_operator_in(const std::string &message) {
  const std::string name = unknown_operator_in(message);
  return is_forbidden(name) ? name : "";
}

void register_dtype_view() {
  [[maybe_unused]] static const torch::Library library = [] {
    torch::Library prims(torch::Library::FRAGMENT, "prims", std::nullopt, __FILE__, __LINE__);
    prims.def("view_of_dtype(Tensor(a) a, ScalarType dtype) -> Tensor(a)",
              torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(view_of_dtype)));
    return prims;
  }();
}

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
