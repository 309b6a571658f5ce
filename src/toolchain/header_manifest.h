// The manifest of a precompiled header: what it was made of, and whether all of it is still as it was.
#pragma once
#include <filesystem>
#include <string>

namespace repro_minify {

std::filesystem::path manifest_in(const std::filesystem::path &folder);
/// Size and time of change of a file; empty where there is none.
std::string mark_of_file(const std::filesystem::path &file);
/// Writes a manifest for `made`, a path in the folder: what it is, and each file that the compiler's `dependencies`
/// name. Returns false if it could not be written.
bool write_manifest(const std::filesystem::path &folder, const std::string &made,
                    const std::filesystem::path &dependencies);
/// True if only this user can write folder, manifest and `made`, `made` is the very file that the manifest was written
/// for, and everything that it was made of is as it was. Some thousand files take 10 ms.
bool agrees_with_manifest(const std::filesystem::path &folder, const std::string &made);

} // namespace repro_minify
