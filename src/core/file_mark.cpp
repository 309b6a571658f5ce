#include "core/file_mark.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

#include <sys/stat.h>

namespace repro_minify {

std::string mark_of_file(const std::filesystem::path &file) {
  struct stat status {};
  return stat(file.c_str(), &status) != 0
             ? ""
             : std::to_string(status.st_size) + ':' + std::to_string(status.st_mtim.tv_sec) + '.' +
                   std::to_string(status.st_mtim.tv_nsec);
}

bool is_of_today(const std::filesystem::path &file) {
  std::error_code none;
  const auto written = std::filesystem::last_write_time(file, none);
  return !none && std::filesystem::file_time_type::clock::now() - written < std::chrono::hours(24);
}

} // namespace repro_minify
