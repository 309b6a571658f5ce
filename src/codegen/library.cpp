#include "codegen/library.h"

#include "codegen/vector_math.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// Runs a program with its output in `output`; its exit code, 127 where it could not be started.
int run(const std::vector<std::string> &words, const fs::path &output) {
  std::vector<char *> arguments;
  for (const auto &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int problem = posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (problem != 0 || waitpid(child, &status, 0) < 0)
    return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string read_file(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Only this user can write there: what lies in it is loaded.
fs::path cache_folder() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path base;
  if (cache && *cache == '/')
    base = cache;
  else if (home && *home == '/')
    base = fs::path(home) / ".cache";
  else
    base = fs::temp_directory_path() / ("repro-minify-" + std::to_string(getuid()));
  fs::path folder = base / "repro-minify" / "kernels";
  std::error_code error;
  fs::create_directories(folder, error);
  struct stat status {};
  if (error || stat(folder.c_str(), &status) != 0 || status.st_uid != getuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)))
    throw std::runtime_error("no folder for kernels can be made, or others can write to it: " + folder.string());
  return folder;
}

bool is_on_path(const std::string &program) {
  if (program.find('/') != std::string::npos)
    return access(program.c_str(), X_OK) == 0;
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0)
      return true;
  return false;
}

/// The processor's features and the compiler's version, as text; asked for once.
const std::string &machine() {
  static const std::string text = [] {
    std::ifstream file("/proc/cpuinfo");
    std::string features;
    for (std::string line; std::getline(file, line) && features.empty();)
      if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
        features = line;
    std::error_code error;
    const std::string compiler = find_compiler();
    struct stat status {};
    std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (stat((folder + "/" + compiler).c_str(), &status) == 0)
        break;
    return features + compiler + std::to_string(status.st_size) + ' ' + std::to_string(status.st_mtime);
  }();
  return text;
}

/// FNV-1a, twice: a name for a file, not a secret.
std::string hash(const std::string &text) {
  std::ostringstream out;
  out << std::hex;
  for (uint64_t state : {0xcbf29ce484222325ULL, 0x9e3779b97f4a7c15ULL}) {
    for (const unsigned char c : text)
      state = (state ^ c) * 0x100000001b3ULL;
    out << state;
  }
  return out.str();
}

std::string first_error(const std::string &output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find("error: "); at != std::string::npos)
      return line.substr(at + 7);
  return output.substr(0, output.find('\n'));
}

struct Compilation {
  int code = 0;
  std::string output;
};

/// Compiles to a name of its own, then renames: whoever is killed leaves nothing half-made under the final name.
Compilation compile_file(const std::string &source, const fs::path &target, const std::vector<std::string> &more) {
  const std::string compiler = find_compiler();
  if (compiler.empty())
    throw std::runtime_error("no C++ compiler was found");
  const std::string base = target.string() + "." + std::to_string(getpid());
  std::ofstream(base + ".cpp") << source;
  std::vector<std::string> words = {compiler};
  words.insert(words.end(), kernel_flags().begin(), kernel_flags().end());
  words.insert(words.end(), {"-fPIC", base + ".cpp", "-o", base + ".made"});
  words.insert(words.end(), more.begin(), more.end());
  const Compilation result{run(words, base + ".txt"), read_file(base + ".txt")};
  std::error_code ignored;
  if (result.code == 0)
    fs::rename(base + ".made", target);
  for (const char *ending : {".cpp", ".txt", ".made"})
    fs::remove(base + ending, ignored);
  return result;
}

/// SLEEF is in LibTorch: there in this process, or not at all.
bool has_sleef() {
  return dlsym(RTLD_DEFAULT, "Sleef_expf8_u10") != nullptr && machine().find(" avx2 ") != std::string::npos;
}

bool has_mkl() {
  return dlsym(RTLD_DEFAULT, "vmsExp") != nullptr && dlsym(RTLD_DEFAULT, "vmdErfc") != nullptr;
}

/// The functions that kernels call by MKL and SLEEF, compiled once; empty where there is none.
std::string vector_math_object() {
  if (!has_sleef())
    return "";
  const fs::path object = cache_folder() / (hash(vector_math_source(has_mkl()) + machine()) + ".o");
  if (!fs::exists(object) && compile_file(vector_math_source(has_mkl()), object, {"-c"}).code != 0)
    return "";
  return object.string();
}

void compile(const std::string &source, const fs::path &library) {
  std::vector<std::string> more = {"-shared"};
  if (source.find("math_") != std::string::npos)
    if (const std::string object = vector_math_object(); !object.empty())
      more.insert(more.end(), {object, "-DREPRO_MINIFY_SLEEF"});
  more.emplace_back("-lm");
  const Compilation result = compile_file(source, library, more);
  if (result.code != 0)
    throw std::runtime_error("C++ compile error: " + first_error(result.output));
}

} // namespace

const std::vector<std::string> &kernel_flags() {
  static const std::vector<std::string> flags = {
      "-std=c++17",        "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math",
      "-ffp-contract=off", "-w"};
  return flags;
}

std::string find_compiler() {
  const char *chosen = std::getenv("CXX");
  if (chosen && *chosen && is_on_path(chosen))
    return chosen;
  for (const char *name : {"c++", "g++", "clang++"})
    if (is_on_path(name))
      return name;
  return "";
}

std::shared_ptr<KernelLibrary> build_kernels(const std::string &source, const std::vector<std::string> &names,
                                             uint64_t seed) {
  std::string key = source + machine() + std::to_string(seed) + (has_sleef() ? vector_math_source(has_mkl()) : "");
  for (const auto &flag : kernel_flags())
    key += flag;
  const fs::path library = cache_folder() / (hash(key) + ".so");
  if (!fs::exists(library))
    compile(source, library);
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) { // damaged: made anew, once
    compile(source, library);
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle)
    throw std::runtime_error(std::string("the compiled kernels cannot be loaded: ") + dlerror());
  return std::make_shared<KernelLibrary>(handle, names);
}

KernelLibrary::KernelLibrary(void *handle, const std::vector<std::string> &names) : handle_(handle) {
  for (const auto &name : names) {
    void *function = dlsym(handle, name.c_str());
    if (!function)
      throw std::runtime_error("the compiled kernels lack " + name);
    functions_[name] = reinterpret_cast<KernelFunction>(function);
  }
}

KernelLibrary::~KernelLibrary() {
  dlclose(handle_);
}

} // namespace repro_minify
