#include "support/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace repro_minify {

TemporaryFolder::TemporaryFolder() : owner_(getpid()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "repro-minify-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw std::system_error(errno, std::generic_category(), "no temporary folder can be made (TMPDIR says where)");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (getpid() == owner_)
    std::filesystem::remove_all(path_, ignored);
}

} // namespace repro_minify
