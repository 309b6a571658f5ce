// In NVRTC's place: takes any source but one that says "nonsense", and hands it through to fake_driver.cpp. Notes each
// compilation and its options in the file that $FAKE_NVRTC_LOG names. Where $FAKE_NVRTC_ASKS names the real one, that
// has to compile the source too, for three kinds of cards: what it says against one is the answer.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace {

struct Program {
  std::string source, log, image;
};

Program &of(void *program) {
  return *static_cast<Program *>(program);
}

int give(const std::string &text, size_t *size) {
  *size = text.size() + 1; // with the zero at its end, as NVRTC counts
  return 0;
}

int copy(const std::string &text, char *to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}

using Handle = void *;

/// Returns what the real NVRTC says against the source for that card; empty where it compiles it.
std::string refusal(void *nvrtc, const std::string &source, const std::string &card, int count,
                    const char *const *all) {
  std::vector<const char *> options;
  const std::string architecture = "--gpu-architecture=" + card;
  for (int k = 0; k < count; ++k)
    options.push_back(std::strncmp(all[k], "--gpu-architecture=", 19) == 0 ? architecture.c_str() : all[k]);
  const auto create =
      reinterpret_cast<int (*)(Handle *, const char *, const char *, int, const char *const *, const char *const *)>(
          dlsym(nvrtc, "nvrtcCreateProgram"));
  const auto compile = reinterpret_cast<int (*)(Handle, int, const char *const *)>(dlsym(nvrtc, "nvrtcCompileProgram"));
  const auto size_of_log = reinterpret_cast<int (*)(Handle, size_t *)>(dlsym(nvrtc, "nvrtcGetProgramLogSize"));
  const auto log = reinterpret_cast<int (*)(Handle, char *)>(dlsym(nvrtc, "nvrtcGetProgramLog"));
  Handle program = nullptr;
  if (!create || !compile || !size_of_log || !log || create(&program, source.c_str(), "", 0, nullptr, nullptr) != 0)
    return "the real NVRTC cannot be asked";
  if (compile(program, static_cast<int>(options.size()), options.data()) == 0)
    return "";
  size_t size = 0;
  size_of_log(program, &size);
  std::string text(size, ' ');
  log(program, text.data());
  return "for " + card + ": " + text;
}

std::string refusal_by_the_real_one(const std::string &source, int count, const char *const *options) {
  const char *library = std::getenv("FAKE_NVRTC_ASKS");
  if (!library)
    return "";
  void *nvrtc = dlopen(library, RTLD_NOW);
  if (!nvrtc)
    return dlerror();
  for (const char *card : {"sm_80", "sm_90", "sm_100"})
    if (std::string text = refusal(nvrtc, source, card, count, options); !text.empty())
      return text;
  return "";
}

} // namespace

extern "C" {

int nvrtcVersion(int *major, int *minor) {
  *major = 12;
  *minor = 8;
  return 0;
}
int nvrtcGetNumSupportedArchs(int *count) {
  *count = 2;
  return 0;
}
int nvrtcGetSupportedArchs(int *architectures) {
  architectures[0] = 80;
  architectures[1] = 90;
  return 0;
}
int nvrtcCreateProgram(void **program, const char *source, const char *, int, const char *const *,
                       const char *const *) {
  *program = new Program{source, "", ""};
  return 0;
}
int nvrtcDestroyProgram(void **program) {
  delete static_cast<Program *>(*program);
  return 0;
}
int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  std::string all;
  for (int k = 0; k < count; ++k)
    all += std::string(k ? " " : "") + options[k];
  if (const char *file = std::getenv("FAKE_NVRTC_LOG"))
    std::ofstream(file, std::ios::app) << all << "\n";
  if (of(program).source.find("nonsense") != std::string::npos) {
    of(program).log =
        "kernels.cu(1): warning #1: careful\nkernels.cu(2): error: identifier \"nonsense\" is undefined\n\n"
        "1 error detected in the compilation of \"kernels.cu\".\n";
    return 6;
  }
  if (of(program).log = refusal_by_the_real_one(of(program).source, count, options); !of(program).log.empty())
    return 6;
  of(program).image = "FAKE " + all + "\n" + of(program).source;
  return 0;
}
int nvrtcGetProgramLogSize(void *program, size_t *size) {
  return give(of(program).log, size);
}
int nvrtcGetProgramLog(void *program, char *to) {
  return copy(of(program).log, to);
}
int nvrtcGetPTXSize(void *program, size_t *size) {
  return give(of(program).image, size);
}
int nvrtcGetPTX(void *program, char *to) {
  return copy(of(program).image, to);
}
int nvrtcGetCUBINSize(void *program, size_t *size) {
  return give(of(program).image, size);
}
int nvrtcGetCUBIN(void *program, char *to) {
  return copy(of(program).image, to);
}
}
