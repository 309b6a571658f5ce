// The folder in which precompiled headers are kept between runs: what is in it, and what has to go.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace repro_minify {

/// Kept apart from the kernels, which checks of a model may write: what lies here is read by a compiler whose output
/// runs unchecked. Empty where there is no safe place, or REPRO_MINIFY_PRECOMPILED_HEADERS=off.
std::filesystem::path header_cache_folder();
/// True if the file exists and was written within a day: for so long, making a header that failed is not tried again.
bool is_of_today(const std::filesystem::path &file);
/// True if any header is kept, for any LibTorch and compiler, or is known to be impossible to make.
bool knows_any_header();

/// A lock for making one header at a time, as each takes a gigabyte of memory. It is released when its process ends.
class HeaderCacheLock {
public:
  /// Does not wait.
  static std::optional<HeaderCacheLock> take(const std::filesystem::path &cache);
  ~HeaderCacheLock();
  HeaderCacheLock(HeaderCacheLock &&other) noexcept;
  HeaderCacheLock &operator=(HeaderCacheLock &&) = delete;

private:
  explicit HeaderCacheLock(int file) : file_(file) {}
  int file_;
};

/// Removes what those who were killed have left half-made; nothing while one is being made.
void remove_half_made_headers();
/// Removes the same, and of the rest what was used least recently, until it takes `most_bytes` at most.
void tidy_header_cache(const HeaderCacheLock &lock, std::uintmax_t most_bytes = std::uintmax_t{2} << 30);

} // namespace repro_minify
