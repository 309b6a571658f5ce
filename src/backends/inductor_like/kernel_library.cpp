#include "backends/inductor_like/kernel_library.h"

#include "backends/inductor_like/kernel_math.h"
#include "core/files.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "core/text.h"
#include "tasks/compiler.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

int run(const std::vector<std::string> &words, const fs::path &output) {
  return exit_code_of(wait_for_program(start_program({.words = words, .output = output})));
}

/// The processor's features and the compiler's version, as text; asked for once.
const std::string &machine() {
  static const std::string text = [] {
    std::ifstream file("/proc/cpuinfo");
    std::string features;
    for (std::string line; std::getline(file, line) && features.empty();)
      if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
        features = line;
    const std::string compiler = find_compiler();
    struct stat status {};
    stat(find_program(compiler).c_str(), &status);
    return features + compiler + std::to_string(status.st_size) + ' ' + std::to_string(status.st_mtime);
  }();
  return text;
}

std::string first_error(const std::string &output) {
  for (const std::string &line : split_lines(output))
    if (const auto at = line.find("error: "); at != std::string::npos)
      return line.substr(at + 7);
  return output.substr(0, output.find('\n'));
}

struct Compilation {
  int code = 0;
  std::string output;
};

/// True if the number of a line stands before `at`, as in "kernel.cpp:12": "collect2" is no place in a source.
bool follows_a_line_number(const std::string &text, size_t at) {
  const size_t begin = text.find_last_not_of("0123456789", at - 1) + 1;
  return begin > 0 && begin < at && text[begin - 1] == ':';
}

/// True if the compiler found a fault in the source, at a line of it, or in itself. All else that keeps it from its
/// work says nothing of the source: no room on the disk (where its own words may have found none either), no memory, no
/// process.
bool is_compilers_verdict(const Compilation &result) {
  if (result.code > 127)
    return false;
  for (const char *sign :
       {"No space left on device", "Killed signal", "Disk quota exceeded", "File size limit exceeded"})
    if (result.output.find(sign) != std::string::npos)
      return false;
  for (const char *sign : {": error: ", ": fatal error: "})
    for (size_t at = result.output.find(sign); at != std::string::npos; at = result.output.find(sign, at + 1))
      if (at > 0 && follows_a_line_number(result.output, at))
        return true;
  return result.output.find("undefined reference") != std::string::npos ||
         result.output.find("internal compiler error") != std::string::npos;
}

/// Files on their way to a final name, and removed when they have not got there: "NAME.XXXXXX" and an ending.
class FilesInTheMaking {
public:
  explicit FilesInTheMaking(const fs::path &target) {
    std::string pattern = target.string() + ".XXXXXX.cpp";
    const int file = mkstemps(pattern.data(), 4); // a name that no other process has, whatever its number
    if (file < 0)
      throw NoAnswer("the kernel cache cannot be written: " + std::string(std::strerror(errno)));
    close(file);
    base_ = pattern.substr(0, pattern.size() - 4);
  }
  ~FilesInTheMaking() {
    std::error_code ignored;
    for (const char *ending : {".cpp", ".txt", ".made"})
      fs::remove(base_ + ending, ignored);
  }
  FilesInTheMaking(const FilesInTheMaking &) = delete;
  FilesInTheMaking &operator=(const FilesInTheMaking &) = delete;
  std::string operator()(const char *ending) const { return base_ + ending; }

private:
  std::string base_;
};

void write_source(const std::string &path, const std::string &source) {
  std::ofstream file(path);
  file << source;
  file.close();
  if (!file)
    throw NoAnswer("the kernel cache cannot be written: " + std::string(std::strerror(errno)));
}

/// Compiles to a name of its own, then renames: a killed process leaves nothing half-made under the final name. Throws
/// NoAnswer where the compiler could not do its work.
Compilation compile_file(const std::string &source, const fs::path &target, const std::vector<std::string> &more) {
  const std::string compiler = find_compiler();
  if (compiler.empty())
    throw NoAnswer("no C++ compiler was found");
  const FilesInTheMaking files(target);
  write_source(files(".cpp"), source);
  std::vector<std::string> words = {compiler};
  words.insert(words.end(), kernel_flags().begin(), kernel_flags().end());
  words.insert(words.end(), {"-fPIC", files(".cpp"), "-o", files(".made")});
  words.insert(words.end(), more.begin(), more.end());
  const Compilation result{run(words, files(".txt")), read_file(files(".txt"))};
  if (result.code != 0 && !is_compilers_verdict(result))
    throw NoAnswer("the C++ compiler " + compiler + " could not do its work (exit code " + std::to_string(result.code) +
                   (result.output.empty() ? "" : ": " + result.output.substr(0, result.output.find('\n'))) + ")");
  std::error_code problem;
  if (result.code == 0)
    fs::rename(files(".made"), target, problem);
  if (problem)
    throw NoAnswer("the kernel cache cannot be written: " + problem.message());
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
  const fs::path object = kernel_cache_folder() / (kernel_hash(vector_math_source(has_mkl()) + machine()) + ".o");
  if (!is_kept(object) && compile_file(vector_math_source(has_mkl()), object, {"-c"}).code != 0)
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

/// Returns the image in the file, or "" if the file is not as it was written: the driver does not check what it loads.
std::string kept_in(const fs::path &file) {
  const std::string text = is_kept(file) ? read_file(file) : "";
  const size_t end = text.find('\n');
  std::string image = end == std::string::npos ? "" : text.substr(end + 1);
  return text.substr(0, std::min(end, text.size())) == kernel_hash(image) ? image : "";
}

/// Writes to a name of its own, then renames: a killed process leaves nothing half-made under the final name.
void keep(const fs::path &file, const std::string &image) {
  std::string made = file.string() + ".XXXXXX";
  const int descriptor = mkstemp(made.data());
  if (descriptor < 0)
    return;
  close(descriptor);
  std::error_code ignored;
  std::ofstream stream(made, std::ios::binary);
  stream << kernel_hash(image) << '\n' << image;
  stream.close();
  if (stream)
    fs::rename(made, file, ignored);
  else
    fs::remove(made, ignored);
}

} // namespace

const std::vector<std::string> &kernel_flags() {
  static const std::vector<std::string> flags = {
      "-std=c++17", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off",
      "-fwrapv",    "-w"};
  return flags;
}

std::shared_ptr<KernelLibrary> build_kernels(const std::string &source, const std::vector<std::string> &names,
                                             uint64_t seed) {
  std::string key = source + machine() + std::to_string(seed) + (has_sleef() ? vector_math_source(has_mkl()) : "");
  for (const auto &flag : kernel_flags())
    key += flag;
  const fs::path library = kernel_cache_folder() / (kernel_hash(key) + ".so");
  if (!is_kept(library))
    compile(source, library);
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) { // damaged: made anew, once
    compile(source, library);
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle)
    throw NoAnswer(std::string("the compiled kernels cannot be loaded: ") + dlerror());
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

std::unique_ptr<CudaModule> build_cuda_kernels(const Nvrtc &nvrtc, std::shared_ptr<const CudaDriver> driver, int device,
                                               const std::string &source, const std::vector<std::string> &names,
                                               uint64_t seed) {
  const std::string architecture = nvrtc.architecture(driver->capability(device));
  std::string key = source + architecture + ' ' + nvrtc.version() + ' ' + std::to_string(seed);
  for (const auto &flag : Nvrtc::flags())
    key += ' ' + flag;
  const fs::path file =
      kernel_cache_folder() / (kernel_hash(key) + (architecture.rfind("sm_", 0) == 0 ? ".cubin" : ".ptx"));
  std::string image = kept_in(file);
  if (image.empty()) {
    image = nvrtc.compile(source, architecture);
    keep(file, image);
  }
  return std::make_unique<CudaModule>(std::move(driver), device, image, names);
}

} // namespace repro_minify
