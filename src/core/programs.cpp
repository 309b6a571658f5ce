#include "core/programs.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

[[noreturn]] void become(const ProgramStart &start, pid_t parent) {
  if (start.own_group)
    setpgid(0, 0);
  if (start.ends_with_us)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (start.ends_with_us && getppid() != parent) // which was killed before that
    _exit(127);
  for (const int descriptor : start.descriptors)
    fcntl(descriptor, F_SETFD, 0);
  if (start.input)
    dup2(*start.input, STDIN_FILENO);
  if (!start.output.empty()) {
    const int output = open(start.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (output < 0)
      _exit(127);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (output > STDERR_FILENO)
      close(output);
  }
  if (!start.folder.empty() && chdir(start.folder.c_str()) != 0)
    _exit(127);
  if (start.before)
    start.before();
  become_program(start.words);
}

bool is_identifier(std::string_view word) {
  const auto is_of_a_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
         std::all_of(word.begin(), word.end(), is_of_a_name);
}

} // namespace

std::string find_program(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return is_executable(name) ? name : "";
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder.empty() ? "." : folder) / name; is_executable(file))
      return file.string();
  return "";
}

pid_t start_program(const ProgramStart &start) {
  const pid_t parent = getpid(), child = fork();
  if (child == 0)
    become(start, parent);
  return child;
}

std::optional<int> wait_for_program(pid_t child) {
  int status = 0;
  pid_t ended = -1;
  while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  return ended == child && child > 0 ? std::optional<int>(status) : std::nullopt;
}

bool is_running(pid_t &child) {
  if (child > 0 && waitpid(child, nullptr, WNOHANG) != 0)
    child = -1;
  return child > 0;
}

bool runs_after(pid_t &child, std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (is_running(child) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return child > 0;
}

int exit_code_of(std::optional<int> status) {
  if (!status)
    return 127;
  return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
}

void become_program(const std::vector<std::string> &words) {
  std::vector<char *> arguments;
  for (const auto &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  if (errno == EAGAIN || errno == ENOMEM || errno == ETXTBSY) // not for now
    raise(SIGKILL);
  dprintf(STDERR_FILENO, "%s: cannot be started: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

bool is_python_file(const std::string &module) {
  return fs::path(module).extension() == ".py";
}

std::string importable(const std::string &module) {
  return is_python_file(module) ? fs::absolute(module).string() : module;
}

std::pair<std::string, std::string> module_and_function(const std::string &text) {
  const size_t colon = text.rfind(':');
  return colon == std::string::npos ? std::pair("", text) : std::pair(text.substr(0, colon), text.substr(colon + 1));
}

std::string no_module_because(const std::string &module) {
  if (is_python_file(module)) {
    const std::string name = fs::path(module).stem().string();
    std::error_code unknown;
    if (!is_identifier(name) || name == "repro" || name == "test_repro" || name == "versions")
      return "'" + name + "' can be no name of a module beside repro.py";
    return fs::is_regular_file(module, unknown) ? "" : module + ": no such file";
  }
  for (size_t begin = 0; begin <= module.size();) {
    const size_t end = std::min(module.find('.', begin), module.size());
    if (!is_identifier(std::string_view(module).substr(begin, end - begin)))
      return "'" + module + "' is neither the name of a module nor the path of a FILE.py";
    begin = end + 1;
  }
  return "";
}

std::string folder_of_loaded_library(const std::string &name) {
  void *library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return "";
  const link_map *map = nullptr;
  const bool found = dlinfo(library, RTLD_DI_LINKMAP, static_cast<void *>(&map)) == 0 && map && map->l_name;
  std::error_code error;
  const fs::path path = found ? fs::canonical(map->l_name, error) : fs::path();
  dlclose(library);
  return error ? "" : path.parent_path().string();
}

std::string torch_prefix_in_use(const std::string &built_with) {
  const fs::path folder = folder_of_loaded_library("libtorch_cpu.so");
  return folder.filename() == "lib" ? folder.parent_path().string() : built_with;
}

} // namespace repro_minify
