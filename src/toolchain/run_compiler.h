// A compiler, run to its end by a process that has nothing else to do.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

/// In `folder`, which has its temporary files and, as "output", what it says. Whether it ended well in that time;
/// killed otherwise, and with this process.
bool run_compiler(const std::vector<std::string> &words, const std::filesystem::path &folder,
                  std::chrono::seconds longest);

} // namespace repro_minify
