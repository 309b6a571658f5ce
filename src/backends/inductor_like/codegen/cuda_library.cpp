#include "backends/inductor_like/codegen/cuda_library.h"

#include "core/read_file.h"
#include "toolchain/kernel_cache.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

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
