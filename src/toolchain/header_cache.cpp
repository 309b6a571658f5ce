#include "toolchain/header_cache.h"

#include "support/cache_folder.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t day = std::time_t{24} * 60 * 60;

/// HASH; HASH.XXXXXX is half-made; HASH.none says that it cannot be made. Nothing else is ours to remove.
enum class Kind { Whole, HalfMade, None, Foreign };

Kind kind_of(const std::string &name) {
  static const std::regex whole("[0-9a-f]{32}"), half_made("[0-9a-f]{32}\\.[A-Za-z0-9]{6}"),
      none("[0-9a-f]{32}\\.none");
  return std::regex_match(name, whole)       ? Kind::Whole
         : std::regex_match(name, half_made) ? Kind::HalfMade
         : std::regex_match(name, none)      ? Kind::None
                                             : Kind::Foreign;
}

struct KeptHeader {
  fs::path folder;
  fs::file_time_type used;
  std::uintmax_t bytes = 0;
};

std::vector<fs::path> entries_of(const fs::path &folder, Kind kind) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (kind_of(entry->path().filename().string()) == kind)
      found.push_back(entry->path());
  return found;
}

KeptHeader kept_header(const fs::path &folder) {
  std::error_code unknown;
  KeptHeader kept{folder, fs::last_write_time(folder / "kept", unknown)};
  for (fs::recursive_directory_iterator entry(folder, unknown), end; !unknown && entry != end; entry.increment(unknown))
    if (std::error_code not_a_file; entry->is_regular_file(not_a_file) && !entry->is_symlink(not_a_file))
      kept.bytes += fs::file_size(entry->path(), not_a_file);
  return kept;
}

void remove_half_made(const fs::path &cache) {
  std::error_code ignored;
  for (const auto &folder : entries_of(cache, Kind::HalfMade))
    fs::remove_all(folder, ignored);
}

} // namespace

fs::path header_cache_folder() {
  const char *wanted = std::getenv("REPRO_MINIFY_PRECOMPILED_HEADERS");
  return wanted && std::string_view(wanted) == "off" ? fs::path() : kept_folder("headers");
}

bool is_of_today(const fs::path &file) {
  struct stat status {};
  return lstat(file.c_str(), &status) == 0 && std::time(nullptr) - status.st_mtim.tv_sec < day;
}

bool knows_any_header() {
  const fs::path cache = header_cache_folder();
  return !cache.empty() && (!entries_of(cache, Kind::Whole).empty() || !entries_of(cache, Kind::None).empty());
}

std::optional<HeaderCacheLock> HeaderCacheLock::take(const fs::path &cache) {
  const int file = open(cache.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  HeaderCacheLock lock(file);
  return flock(file, LOCK_EX | LOCK_NB) == 0 ? std::optional(std::move(lock)) : std::nullopt;
}

HeaderCacheLock::~HeaderCacheLock() {
  if (file_ >= 0)
    close(file_);
}

HeaderCacheLock::HeaderCacheLock(HeaderCacheLock &&other) noexcept : file_(std::exchange(other.file_, -1)) {}

void remove_half_made_headers() {
  const fs::path cache = header_cache_folder();
  if (cache.empty() || entries_of(cache, Kind::HalfMade).empty())
    return;
  if (const auto lock = HeaderCacheLock::take(cache))
    remove_half_made(cache);
}

void tidy_header_cache(const HeaderCacheLock &, std::uintmax_t most_bytes) {
  const fs::path cache = header_cache_folder();
  if (cache.empty())
    return;
  remove_half_made(cache);
  std::error_code ignored;
  for (const auto &file : entries_of(cache, Kind::None))
    if (!is_of_today(file))
      fs::remove(file, ignored);
  std::vector<KeptHeader> kept;
  for (const auto &folder : entries_of(cache, Kind::Whole))
    kept.push_back(kept_header(folder));
  std::sort(kept.begin(), kept.end(),
            [](const KeptHeader &left, const KeptHeader &right) { return left.used > right.used; });
  std::uintmax_t bytes = 0;
  for (const auto &header : kept) {
    bytes += header.bytes;
    if (bytes > most_bytes)
      fs::remove_all(header.folder, ignored);
  }
}

} // namespace repro_minify
