#include "backends/in_python.h"

#include "core/programs.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace repro_minify {

PythonCall scripted_call(std::vector<std::string> settings) {
  PythonCall call;
  call.settings = std::move(settings);
  call.optimised = "torch.jit.script(model)";
  return call;
}

PythonCall frozen_call(const std::string &function) {
  PythonCall call;
  call.optimised = function + "(torch.jit.script(model))";
  call.needs_module = call.plain_interpreter = true;
  return call;
}

namespace {

namespace fs = std::filesystem;

/// Without importing it, which takes seconds.
bool has_torch(const std::string &python) {
  const std::string question = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";
  return exit_code_of(wait_for_program(
             start_program({.words = {python, "-c", question}, .output = "/dev/null", .own_group = true}))) == 0;
}

/// .../lib/pythonX.Y/site-packages/torch -> .../bin/python
std::string python_beside(const fs::path &torch_prefix) {
  fs::path folder = torch_prefix;
  for (int up = 0; up < 4; ++up)
    folder = folder.parent_path();
  return (folder / "bin" / "python").string();
}

} // namespace

std::string script_of_ours(const std::string &installed, const std::string &in_source) {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  // bin/repro-minify of a prefix, bin/2.13/repro-minify of a wheel, which has one for each LibTorch
  for (const fs::path &prefix : {folder.parent_path(), folder.parent_path().parent_path()})
    if (const fs::path there = prefix / REPRO_MINIFY_DATA_FOLDER / installed; fs::exists(there, ignored))
      return there.string();
  return (fs::path(REPRO_MINIFY_SOURCE_FOLDER) / in_source).string();
}

std::string find_python_with_torch(const std::string &given) {
  std::vector<std::string> candidates = {given};
  if (given.empty())
    candidates = {python_beside(torch_prefix_in_use(REPRO_MINIFY_TORCH_PREFIX)), "python3", "python"};
  for (const auto &candidate : candidates) {
    const std::string python = find_program(candidate);
    if (!python.empty() && has_torch(python))
      return python;
  }
  return "";
}

std::vector<std::string> folders_of_python(const std::string &python) {
  std::error_code unknown;
  std::vector<std::string> folders;
  for (const fs::path &program : {fs::absolute(python, unknown), fs::canonical(python, unknown)})
    if (program.has_parent_path())
      folders.push_back(program.parent_path().parent_path().string());
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    folders.push_back(std::string(home) + "/.local/lib");
  if (const char *more = std::getenv("PYTHONPATH")) {
    std::istringstream paths(more);
    for (std::string folder; std::getline(paths, folder, ':');)
      if (fs::path(folder).is_absolute())
        folders.push_back(folder);
  }
  return folders;
}

} // namespace repro_minify
