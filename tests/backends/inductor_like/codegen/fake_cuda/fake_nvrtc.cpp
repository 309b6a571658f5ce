// In NVRTC's place: takes any source but one that says "nonsense", and hands it through to fake_driver.cpp. Notes each
// compilation and its options in the file that $FAKE_NVRTC_LOG names.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

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
