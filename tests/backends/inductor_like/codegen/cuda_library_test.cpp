// The way of a CUDA kernel from source to result, with libraries in the place of NVRTC and the driver that need no GPU
// (fake_cuda/).
#include "all_tests.h"
#include "backends/inductor_like/kernel_library.h"

#include "backends/inductor_like/kernel.h"
#include "tasks/kernel_folder.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace repro_minify {
namespace {

class CudaLibraryTest : public WithKernelFolder {
protected:
  void SetUp() override {
    WithKernelFolder::SetUp();
    if (IsSkipped())
      return;
    setenv("FAKE_NVRTC_LOG", (folder_ + "/log").c_str(), 1);
    nvrtc_ = std::make_unique<Nvrtc>(std::vector<std::string>{"/nowhere/libnvrtc.so", test_paths::fake_nvrtc});
    driver_ = std::make_shared<CudaDriver>(test_paths::fake_driver);
  }
  void TearDown() override {
    for (const char *name : {"FAKE_NVRTC_LOG", "FAKE_CAPABILITY"})
      unsetenv(name);
    WithKernelFolder::TearDown();
  }

  std::unique_ptr<CudaModule> built(const std::string &source, const std::vector<std::string> &names,
                                    uint64_t seed = 0) const {
    return build_cuda_kernels(*nvrtc_, driver_, /*device=*/1, source, names, seed);
  }
  /// One line for each time that NVRTC compiled.
  std::vector<std::string> compilations() const {
    std::ifstream file(folder_ + "/log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
      lines.push_back(line);
    return lines;
  }
  std::vector<std::filesystem::path> kept() const {
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder_))
      if (entry.is_regular_file() && entry.path().filename() != "log")
        files.push_back(entry.path());
    return files;
  }
  template <typename Result> static Result ask_driver(const char *name) {
    void *handle = dlopen(test_paths::fake_driver, RTLD_NOW);
    return reinterpret_cast<Result (*)()>(dlsym(handle, name))();
  }
  static std::string message_of(const std::function<void()> &action) {
    try {
      action();
    } catch (const std::runtime_error &error) {
      return error.what();
    }
    return "";
  }

  std::unique_ptr<Nvrtc> nvrtc_;
  std::shared_ptr<CudaDriver> driver_;
};

const char *const one_kernel = "extern \"C\" __global__ void k(float *b0) { b0[threadIdx.x] = threadIdx.x; }\n";

TEST_F(CudaLibraryTest, AKernelComputesOnWhatItIsGivenOnTheStreamItIsGiven) {
  const Loader load = [](Body &body, const std::vector<Index> &at) {
    return body.load({0, Element::Float32}, flat_index(at, std::vector<int64_t>{at.size() > 1 ? 100 : 1, 1}));
  };
  const Loader sum = [](Body &body, const std::vector<Index> &at) { return body.load({1, Element::Float32}, at[0]); };
  const KernelSource rows = write_cuda_kernel("rows", {{3}, {{{1, Element::Float32}, load, Fold::Sum, {100}}}});
  const KernelSource twice =
      write_cuda_kernel("twice", {{3}, {{{2, Element::Float32}, [&](Body &body, const std::vector<Index> &at) {
                                           return body.local("float", "2 * " + sum(body, at));
                                         }}}});
  const auto module = built(cuda_kernel_file(rows.text + twice.text), {"rows", "twice"});
  std::vector<float> x(300), y(3), z(3);
  for (size_t k = 0; k < x.size(); ++k)
    x[k] = static_cast<float>(k);
  int stream = 0;
  module->launch("rows", rows.blocks, cuda_threads, &stream, {x.data(), y.data()});
  module->launch("twice", twice.blocks, cuda_threads, &stream, {y.data(), z.data()});
  EXPECT_EQ(y, (std::vector<float>{4950, 14950, 24950}));
  EXPECT_EQ(z, (std::vector<float>{9900, 29900, 49900}));
  EXPECT_EQ(ask_driver<void *>("fake_stream"), &stream);
  EXPECT_EQ(ask_driver<int>("fake_contexts"), 0); // the thread's own context is current again
}

TEST_F(CudaLibraryTest, NoBlocksAreNotLaunched) {
  built(one_kernel, {"k"})->launch("k", 0, cuda_threads, nullptr, {nullptr}); // the driver would refuse it
}

TEST_F(CudaLibraryTest, WhatWasCompiledOnceIsNotCompiledAgainButForAnotherSeed) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  built(one_kernel, {"k"});
  built(one_kernel, {"k"});
  EXPECT_EQ(compilations().size(), 1u);
  built(one_kernel, {"k"}, /*seed=*/1);
  EXPECT_EQ(compilations().size(), 2u);
}

TEST_F(CudaLibraryTest, ADamagedFileIsMadeAnewAndNeverReachesTheDriver) {
  built(one_kernel, {"k"});
  ASSERT_EQ(kept().size(), 1u);
  std::filesystem::resize_file(kept()[0], std::filesystem::file_size(kept()[0]) - 1);
  built(one_kernel, {"k"});
  EXPECT_EQ(compilations().size(), 2u);
  built(one_kernel, {"k"});
  EXPECT_EQ(compilations().size(), 2u);
}

TEST_F(CudaLibraryTest, MachineCodeForTheDeviceAndPtxForOneThatIsNewer) {
  built(one_kernel, {"k"});
  setenv("FAKE_CAPABILITY", "120", 1);
  built(one_kernel, {"k"});
  const auto made = compilations();
  ASSERT_EQ(made.size(), 2u);
  EXPECT_NE(made[0].find("--gpu-architecture=sm_90"), std::string::npos) << made[0];
  EXPECT_NE(made[0].find("--fmad=false"), std::string::npos) << made[0];
  EXPECT_NE(made[1].find("--gpu-architecture=compute_90"), std::string::npos) << made[1];
  setenv("FAKE_CAPABILITY", "75", 1);
  EXPECT_EQ(message_of([&] { built(one_kernel, {"k"}); }),
            "NVRTC 12.8 has no code for devices of compute capability 7.5");
}

TEST_F(CudaLibraryTest, AnErrorSaysWhatNvrtcOrTheDriverSaid) {
  EXPECT_EQ(message_of([&] { built("nonsense", {"k"}); }), "CUDA compile error: identifier \"nonsense\" is undefined");
  EXPECT_EQ(message_of([&] { built(one_kernel, {"other"}); }),
            "CUDA error: cuModuleGetFunction: named symbol not found");
  EXPECT_EQ(message_of([&] { build_cuda_kernels(*nvrtc_, driver_, 2, one_kernel, {"k"}, 0); }),
            "CUDA error: cuDeviceGet: invalid device ordinal");
  EXPECT_EQ(ask_driver<int>("fake_contexts"), 0);
}

TEST_F(CudaLibraryTest, WithoutADriverTheReasonIsSaid) {
  EXPECT_NE(message_of([] { const CudaDriver none("/nowhere/libcuda.so.1"); }).find("/nowhere/libcuda.so.1"),
            std::string::npos);
}

TEST_F(CudaLibraryTest, WhatAReproContainsDoesTheSame) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the libraries want AddressSanitizer's in the process that loads them";
#endif
  std::ofstream(folder_ + "/main.cpp")
      << "#include <cstdlib>\n#include <map>\n#include <memory>\n#include <stdexcept>\n"
         "#include <string>\n#include <string_view>\n#include <vector>\n"
         "#include <dlfcn.h>\n"
      << kernel_nvrtc_text << kernel_cuda_driver_text << R"(
int main() {
  const Nvrtc nvrtc(Nvrtc::libraries());
  const auto driver = std::make_shared<CudaDriver>(std::getenv("DRIVER"));
  const std::string image = nvrtc.compile(R"k()"
      << one_kernel << R"()k", nvrtc.architecture(driver->capability(0)));
  const CudaModule module(driver, 0, image, {"k"});
  float numbers[256] = {};
  module.launch("k", 1, 256, nullptr, {numbers});
  return numbers[200] == 200 ? 42 : 1;
}
)";
  const std::string command =
      "cd " + folder_ + " && " + find_compiler() +
      " -std=c++20 -Wall -Wextra -Werror main.cpp -o main -ldl && REPRO_MINIFY_NVRTC=" + test_paths::fake_nvrtc +
      " DRIVER=" + test_paths::fake_driver + " ./main";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

} // namespace
} // namespace repro_minify
