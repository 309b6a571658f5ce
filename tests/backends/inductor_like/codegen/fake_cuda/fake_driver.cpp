// In the place of CUDA's driver: two devices, which run what fake_nvrtc.cpp hands through on the processor, as
// cuda_on_cpu.h says. Insists on a current context as the real one does.
#include "../cuda_on_cpu.h"

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include <dlfcn.h>

namespace {

struct Module {
  std::string source;
  void *library = nullptr;
};
struct Function {
  Module *module = nullptr;
  void *address = nullptr;
  int parameters = 0;
};

std::deque<Module> modules;
std::deque<Function> functions;
int contexts[2];
std::vector<void *> current;
void *last_stream = nullptr;
constexpr int invalid_value = 1, invalid_device = 101, invalid_image = 200, invalid_context = 201, not_found = 500;

/// Calls what takes up to 16 pointers: who takes fewer ignores the others.
const char *const launcher = R"(
extern "C" void fake_launch(void *function, unsigned blocks, void **parameters, int count) {
  void *p[16] = {};
  for (int k = 0; k < count; ++k)
    p[k] = *static_cast<void **>(parameters[k]);
  using Kernel = void (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                          void *, void *, void *, void *, void *);
  const auto kernel = reinterpret_cast<Kernel>(function);
  on_cpu::launch(blocks, 7, [&] {
    kernel(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15]);
  });
}
)";

void *compiled(const std::string &source) {
  std::string folder = (std::filesystem::temp_directory_path() / "fake-cuda-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    return nullptr;
  std::ofstream(folder + "/k.cpp") << "#define THREADS " << repro_minify::cuda_threads << "\n"
                                   << repro_minify::cuda_definitions << source << launcher;
  const std::string command =
      "env -u LD_PRELOAD c++ -std=c++17 -O1 -w -shared -fPIC " + folder + "/k.cpp -o " + folder + "/k.so";
  void *library =
      std::system(command.c_str()) == 0 ? dlopen((folder + "/k.so").c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  std::filesystem::remove_all(folder);
  return library;
}

} // namespace

extern "C" {

int fake_contexts() {
  return static_cast<int>(current.size());
}
void *fake_stream() {
  return last_stream;
}

int cuInit(unsigned) {
  return 0;
}
int cuGetErrorString(int code, const char **text) {
  static const std::map<int, const char *> texts = {{invalid_value, "invalid argument"},
                                                    {invalid_device, "invalid device ordinal"},
                                                    {invalid_image, "device kernel image is invalid"},
                                                    {invalid_context, "invalid device context"},
                                                    {not_found, "named symbol not found"}};
  const auto found = texts.find(code);
  *text = found == texts.end() ? nullptr : found->second;
  return found == texts.end() ? invalid_value : 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = 10 + ordinal;
  return ordinal >= 0 && ordinal < 2 ? 0 : invalid_device;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const char *chosen = std::getenv("FAKE_CAPABILITY");
  const int capability = chosen ? std::atoi(chosen) : 90;
  *value = attribute == 75 ? capability / 10 : capability % 10;
  return (device == 10 || device == 11) && (attribute == 75 || attribute == 76) ? 0 : invalid_value;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &contexts[device - 10];
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  current.push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  if (current.empty())
    return invalid_context;
  *context = current.back();
  current.pop_back();
  return 0;
}
int cuModuleLoadData(void **module, const void *image) {
  const std::string text = static_cast<const char *>(image);
  if (current.empty())
    return invalid_context;
  if (text.rfind("FAKE ", 0) != 0)
    return invalid_image;
  Module &made = modules.emplace_back(Module{text.substr(text.find('\n') + 1), nullptr});
  made.library = compiled(made.source);
  *module = &made;
  return made.library ? 0 : invalid_image;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  auto *owner = static_cast<Module *>(module);
  void *address = dlsym(owner->library, name);
  if (!address)
    return not_found;
  const size_t begin = owner->source.find(std::string(" ") + name + "("), end = owner->source.find(')', begin);
  const std::string parameters = owner->source.substr(begin, end - begin);
  *function = &functions.emplace_back(
      Function{owner, address, static_cast<int>(std::count(parameters.begin(), parameters.end(), ',')) + 1});
  return 0;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                   unsigned threads_z, unsigned shared, void *stream, void **parameters, void **extra) {
  if (current.empty())
    return invalid_context;
  if (x == 0 || y != 1 || z != 1 || threads != repro_minify::cuda_threads || threads_y != 1 || threads_z != 1 ||
      shared != 0 || extra)
    return invalid_value;
  last_stream = stream;
  const auto &what = *static_cast<Function *>(function);
  using Launch = void (*)(void *, unsigned, void **, int);
  reinterpret_cast<Launch>(dlsym(what.module->library, "fake_launch"))(what.address, x, parameters, what.parameters);
  return 0;
}
}
