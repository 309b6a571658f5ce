#include "core/loaded_library.h"

#include <filesystem>
#include <string>
#include <system_error>

#include <dlfcn.h>
#include <link.h>

namespace repro_minify {

namespace fs = std::filesystem;

std::string folder_of_loaded_library(const std::string &name) {
  void *library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return "";
  const link_map *map = nullptr;
  const bool found = dlinfo(library, RTLD_DI_LINKMAP, static_cast<void *>(&map)) == 0 && map && map->l_name;
  std::error_code error;
  const fs::path path = found ? fs::canonical(map->l_name, error) : fs::path();
  dlclose(library);
  return error ? "" : path.parent_path().string();
}

std::string torch_prefix_in_use(const std::string &built_with) {
  const fs::path folder = folder_of_loaded_library("libtorch_cpu.so");
  return folder.filename() == "lib" ? folder.parent_path().string() : built_with;
}

} // namespace repro_minify
