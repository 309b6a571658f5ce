#include "pipeline/output_folder.h"

#include "repro_minify/program.h"

#include "repro/results_folder.h"

#include <filesystem>

namespace repro_minify {

namespace fs = std::filesystem;

void require_free(const std::string &folder, bool force) {
  std::error_code error;
  if (!fs::exists(folder, error))
    return;
  if (!fs::is_directory(folder, error))
    throw UserError(folder + ": is a file; name a folder with -o");
  if (!force && !fs::is_empty(folder, error))
    throw UserError(folder + ": exists; give --force to write into it, or another folder with -o");
  begin_results(folder);
}

void make_folder(const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw UserError(folder + ": cannot be made: " + error.message());
  lock_results(folder);
}

} // namespace repro_minify
