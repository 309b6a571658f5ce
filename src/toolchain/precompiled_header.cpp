#include "toolchain/precompiled_header.h"

#include "support/digest.h"
#include "support/find_program.h"
#include "toolchain/header_cache.h"
#include "toolchain/header_manifest.h"
#include "toolchain/run_compiler.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// The source of a header that is named on the command line.
constexpr const char *nothing = "/dev/null";
constexpr std::chrono::seconds longest_making = std::chrono::minutes(15);

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A folder on its way to a name, and removed when it has not got there.
class FolderInTheMaking {
public:
  explicit FolderInTheMaking(const fs::path &target) : path_(target.string() + ".XXXXXX") {
    if (!mkdtemp(path_.data()))
      path_.clear();
  }
  ~FolderInTheMaking() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  FolderInTheMaking(const FolderInTheMaking &) = delete;
  FolderInTheMaking &operator=(const FolderInTheMaking &) = delete;

  const std::string &path() const { return path_; }
  bool become(const fs::path &target) {
    std::error_code problem;
    fs::remove_all(target, problem); // a damaged one
    fs::rename(path_, target, problem);
    if (!problem)
      path_.clear();
    return !problem;
  }

private:
  std::string path_;
};

/// The file itself, behind all links.
fs::path compiler_in(const std::vector<std::string> &command) {
  std::error_code unknown;
  return fs::canonical(find_program(command.front()), unknown);
}

fs::path mark_of_failure(const fs::path &kept) {
  return kept.string() + ".none";
}

} // namespace

PrecompiledHeader::PrecompiledHeader(std::string header, std::vector<std::string> compile_command)
    : header_(std::move(header)), command_(std::move(compile_command)) {
  is_clang_ = !command_.empty() && compiler_in(command_).filename().string().find("clang") != std::string::npos;
  const fs::path cache = header_cache_folder();
  if (!cache.empty() && !command_.empty() && !header_.empty())
    kept_ = cache / key();
}

/// Returns a digest of what the precompiled form of a header depends on, apart from its files.
std::string PrecompiledHeader::key() const {
  Digest digest;
  digest.add(std::string_view("2")); // of how it is kept
  digest.add(header_);
  for (const auto &word : command_)
    digest.add(word);
  for (const char *name : {"CPATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "CCC_OVERRIDE_OPTIONS"})
    digest.add(environment(name));
  const fs::path compiler = compiler_in(command_);
  digest.add(compiler.string());
  digest.add(mark_of_file(compiler));
  return digest.text();
}

fs::path PrecompiledHeader::folder() const {
  if (kept_.empty() || !agrees_with_manifest(kept_, file_name()))
    return "";
  utimensat(AT_FDCWD, manifest_in(kept_).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return kept_;
}

std::optional<std::pair<std::string, std::string>> PrecompiledHeader::in_environment() const {
  const fs::path kept = folder();
  if (kept.empty())
    return std::nullopt;
  if (!is_clang_) {
    const std::string before = environment("CPATH");
    return std::pair("CPATH", kept.string() + (before.empty() ? "" : ":" + before));
  }
  const std::string file = kept / file_name(), before = environment("CCC_OVERRIDE_OPTIONS");
  if (file.find_first_of(" \t\n") != std::string::npos) // its words are not quoted
    return std::nullopt;
  // '#': nothing is said of it; '+': a word more.
  return std::pair("CCC_OVERRIDE_OPTIONS", (before.empty() ? "#" : before) + " +-include-pch +" + file);
}

bool PrecompiledHeader::is_wanted() const {
  return !kept_.empty() && !is_of_today(mark_of_failure(kept_)) && folder().empty();
}

bool PrecompiledHeader::make(std::uintmax_t most_bytes) const {
  const auto lock = kept_.empty() ? std::nullopt : HeaderCacheLock::take(kept_.parent_path());
  if (!lock)
    return false;
  if (!folder().empty())
    return true;
  tidy_header_cache(*lock, most_bytes);
  FolderInTheMaking making(kept_);
  if (making.path().empty())
    return false;
  if (!make_in(making.path())) {
    std::ofstream(mark_of_failure(kept_)).flush();
    return false;
  }
  if (!making.become(kept_))
    return false;
  tidy_header_cache(*lock, most_bytes);
  return true;
}

bool PrecompiledHeader::make_in(const fs::path &folder) const {
  const fs::path made = folder / file_name();
  const std::string dependencies = folder / "dependencies";
  std::error_code problem;
  fs::create_directories(made.parent_path(), problem);
  std::vector<std::string> words = command_;
  words.insert(words.end(), {"-MD", "-MF", dependencies, "-o", made, "-include", header_, "-x", "c++-header", nothing});
  if (is_clang_) // for the times of files there is the manifest
    words.insert(words.end(), {"-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp"});
  if (problem || !run_compiler(words, folder, longest_making) || !write_manifest(folder, file_name(), dependencies))
    return false;
  if (!is_clang_) // found in its place when it is included once more, where nothing precompiled can be taken
    std::ofstream(folder / header_) << "#include_next <" << header_ << ">\n";
  for (const fs::path &file : {fs::path(dependencies), folder / "output"})
    fs::remove(file, problem);
  return true;
}

void PrecompiledHeader::discard() const {
  std::error_code ignored;
  if (kept_.empty())
    return;
  fs::remove_all(kept_, ignored);
  std::ofstream(mark_of_failure(kept_)).flush();
}

} // namespace repro_minify
