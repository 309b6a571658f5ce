// Device files that a GPU's driver opens, on machines that are pretended: a folder stands for the root of each.
#include "tasks/gpu_devices.h"

#include "core/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// Paths relative to /dev of what is found where these files are in it.
struct Machine {
  explicit Machine(const std::vector<std::string> &files) {
    for (const std::string &file : files) {
      const fs::path path = root.path() / (file.starts_with("tmp/") ? "" : "dev") / file;
      fs::create_directories(path.parent_path());
      std::ofstream(path) << "";
    }
    devices = gpu_devices(root.path());
    for (const std::string &path : devices.paths)
      names.push_back(fs::path(path).filename().string());
  }

  TemporaryFolder root;
  GpuDevices devices;
  std::vector<std::string> names;
};

TEST(GpuDevices, AreThoseOfNvidiasDriver) {
  const Machine machine({"null", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset",
                         "nvidia-caps/nvidia-cap1", "dri/renderD128", "sda"});
  EXPECT_EQ(machine.names, (std::vector<std::string>{"dri", "nvidia-caps", "nvidia-modeset", "nvidia-uvm",
                                                     "nvidia-uvm-tools", "nvidia0", "nvidiactl"}));
  EXPECT_TRUE(machine.devices.cuda);
  EXPECT_EQ(machine.devices.problem, "");
}

TEST(GpuDevices, AreThoseOfWslAndJetson) {
  EXPECT_EQ(Machine({"dxg", "tty"}).names, std::vector<std::string>{"dxg"});
  const Machine jetson({"nvhost-ctrl-gpu", "nvhost-gpu", "nvmap", "nvgpu/igpu0/power", "video0"});
  EXPECT_EQ(jetson.names, (std::vector<std::string>{"nvgpu", "nvhost-ctrl-gpu", "nvhost-gpu", "nvmap"}));
  EXPECT_TRUE(jetson.devices.cuda);
  EXPECT_EQ(jetson.devices.problem, "");
}

TEST(GpuDevices, OfOtherMakersAreNoCuda) {
  const Machine machine({"dri/card0", "kfd"});
  EXPECT_EQ(machine.names, std::vector<std::string>{"dri"});
  EXPECT_FALSE(machine.devices.cuda);
}

TEST(GpuDevices, ThatAConfinedProcessCannotMakeAreNamed) {
  const Machine machine({"nvidia0", "nvidiactl"});
  EXPECT_TRUE(machine.devices.cuda);
  EXPECT_NE(machine.devices.problem.find("/dev/nvidia-uvm is missing"), std::string::npos) << machine.devices.problem;
}

TEST(GpuDevices, ThatAServiceSharesAreNamed) {
  const Machine machine({"nvidia0", "nvidiactl", "nvidia-uvm", "tmp/nvidia-mps/control"});
  EXPECT_NE(machine.devices.problem.find("multi-process service"), std::string::npos) << machine.devices.problem;
}

TEST(GpuDevices, AreNoneWhereThereIsNoFolderOfDevices) {
  EXPECT_TRUE(gpu_devices("/no such root").paths.empty());
}

} // namespace
} // namespace repro_minify
