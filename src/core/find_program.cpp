#include "core/find_program.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

} // namespace

std::string find_program(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return is_executable(name) ? name : "";
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder.empty() ? "." : folder) / name; is_executable(file))
      return file.string();
  return "";
}

} // namespace repro_minify
