// The files through which a GPU's driver is asked, so that a confined child may open them, and what is missing of them.
// Names: NVIDIA's Linux driver (README of the driver, "Device nodes"), WSL 2's GPU paravirtualisation, Jetson Linux.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

struct GpuDevices {
  std::vector<std::string> paths; ///< devices and folders of devices, sorted; of other makers' cards too
  bool cuda = false;              ///< CUDA's driver is asked through one of them
  /// Says what may keep CUDA from working in a confined child, in a sentence; empty where nothing is known.
  std::string problem;
};

/// Looks through `root`/dev. Throws nothing: what cannot be read is not there.
GpuDevices gpu_devices(const std::filesystem::path &root = "/");

/// The same of this machine, looked up once.
const GpuDevices &gpu_devices_here();

} // namespace repro_minify
