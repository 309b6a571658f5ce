// Asks Python's torch: an oracle is a script that is run once and answers in bulk.
#pragma once
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include <sys/wait.h>

namespace repro_minify {

/// Runs a command. Returns what it prints, and its exit status.
inline std::pair<std::string, int> run_shell(const std::string &command) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr)
    return {"popen failed", -1};
  std::string output;
  std::array<char, 4096> chunk{};
  while (const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), pipe))
    output.append(chunk.data(), size);
  const int status = pclose(pipe);
  return {output, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

} // namespace repro_minify
