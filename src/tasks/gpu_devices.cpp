#include "tasks/gpu_devices.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// Beginnings of names: cards and their control files, WSL's one device, what Jetson's driver opens.
constexpr std::array cuda_names = {"nvidia", "dxg", "nvhost", "nvmap", "nvgpu", "nvsciipc"};

bool is_of_cuda(std::string_view name) {
  return std::any_of(cuda_names.begin(), cuda_names.end(), [&](const char *word) { return name.starts_with(word); });
}

/// The service that lets processes share a card answers at a socket, and a confined process reaches no other's.
std::string unreachable_service(const fs::path &root) {
  std::error_code unknown;
  if (!fs::exists(root / "tmp/nvidia-mps", unknown))
    return "";
  return "CUDA's multi-process service is on, and a confined process cannot reach it: end it, or let processes use the "
         "card without it";
}

/// A process with no new privileges cannot have the driver's helper, which is set-uid, load the module and make the
/// device.
std::string missing_memory_device(const fs::path &devices) {
  std::error_code unknown;
  if (!fs::exists(devices / "nvidiactl", unknown) || fs::exists(devices / "nvidia-uvm", unknown))
    return "";
  return "/dev/nvidia-uvm is missing, and a confined process cannot make it: run `nvidia-modprobe -u -c 0` as root "
         "once, "
         "or any program that uses CUDA";
}

} // namespace

GpuDevices gpu_devices(const fs::path &root) {
  GpuDevices found;
  std::error_code error;
  const fs::path devices = root / "dev";
  for (fs::directory_iterator entry(devices, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_of_cuda(name) && name != "dri")
      continue;
    found.paths.push_back(entry->path().string());
    found.cuda |= is_of_cuda(name);
  }
  std::sort(found.paths.begin(), found.paths.end());
  found.problem = missing_memory_device(devices);
  if (found.problem.empty())
    found.problem = unreachable_service(root);
  return found;
}

const GpuDevices &gpu_devices_here() {
  static const GpuDevices here = gpu_devices();
  return here;
}

} // namespace repro_minify
