#include "core/file_mark.h"

#include <filesystem>
#include <string>

#include <sys/stat.h>

namespace repro_minify {

std::string mark_of_file(const std::filesystem::path &file) {
  struct stat status {};
  return stat(file.c_str(), &status) != 0
             ? ""
             : std::to_string(status.st_size) + ':' + std::to_string(status.st_mtim.tv_sec) + '.' +
                   std::to_string(status.st_mtim.tv_nsec);
}

} // namespace repro_minify
