// Where compiled kernels are kept between runs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace repro_minify {

/// Returns a folder in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), if no other user can change anything on
/// the way there, for what lies in it is loaded; else a folder of this run. Throws NoAnswer.
std::filesystem::path kernel_cache_folder();
/// True if the file is there and only this user can write it; it then counts as used now.
bool is_kept(const std::filesystem::path &file);
/// Removes what compilations that were killed have left, and of the rest what was used least recently, until it takes
/// `most_bytes` at most. Throws nothing: a cache that cannot be tidied is still one.
void tidy_kernel_cache(uintmax_t most_bytes = uintmax_t{1} << 30) noexcept;
/// A name for a file, not a secret.
std::string kernel_hash(const std::string &text);

} // namespace repro_minify
