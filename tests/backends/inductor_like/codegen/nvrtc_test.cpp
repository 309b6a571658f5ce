// Generated kernels through the real NVRTC, where there is one: no GPU is needed to compile.
#include "all_tests.h"
#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_library.h"
#include "random_kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace repro_minify {
namespace {

class NvrtcTest : public testing::Test {
protected:
  void SetUp() override {
    try {
      nvrtc_ = std::make_unique<Nvrtc>(Nvrtc::libraries());
    } catch (const std::runtime_error &error) {
      if (std::getenv("REPRO_MINIFY_NVRTC") == nullptr)
        GTEST_SKIP() << error.what();
      FAIL() << error.what();
    }
  }

  std::unique_ptr<Nvrtc> nvrtc_;
};

/// Returns one kernel that calls all that the pointwise operators and reductions of the backend call.
std::string every_function() {
  std::string text = "extern \"C\" __global__ void functions(const float *a, const double *b, float *c, double *d) {\n";
  for (const char *name : {"exp",  "exp2",  "expm1", "log",  "log2", "log10", "log1p", "sin",   "cos",
                           "tan",  "asin",  "acos",  "atan", "tanh", "asinh", "atanh", "erf",   "sinh",
                           "cosh", "acosh", "erfc",  "sqrt", "fabs", "floor", "ceil",  "trunc", "nearbyint"}) {
    text += "  *c += math_" + std::string(name) + "f(*a);\n  *d += __builtin_" + name + "(*b);\n";
  }
  for (const char *name : {"pow", "atan2", "fmod"})
    text += "  *c += math_" + std::string(name) + "f(*a, *c);\n  *d += math_" + name + "(*b, *d);\n";
  text +=
      "  *c += float_floor_quotient<float>(*a, *c, math_fmodf(*a, *c)) + float_remainder<float>(*a, *c) + "
      "smallest_of<float>(*a, *c) + __builtin_nanf(\"\") + __builtin_inff();\n"
      "  *d += integer_power<int64_t>(3, 4) + floor_remainder<int16_t>(7, 2) + lowest<int64_t>() + highest<bool>();\n";
  return in_cuda(text + "}\n");
}

TEST_F(NvrtcTest, CompilesEveryKernelForSeveralArchitectures) {
  std::string kernels = every_function();
  std::vector<std::string> names = {"functions"};
  for (const auto &test : random_kernels(/*seed=*/5, /*rounds=*/1)) {
    names.push_back("k" + std::to_string(names.size()));
    kernels += write_cuda_kernel(names.back(), test.kernel).text;
  }
  const std::vector<int> capabilities = everything_is_asked_for() ? std::vector{80, 90, 100} : std::vector{90};
  for (const int capability : capabilities) {
    const std::string architecture = nvrtc_->architecture(capability);
    EXPECT_EQ(architecture, "sm_" + std::to_string(capability));
    const std::string image = nvrtc_->compile(cuda_kernel_file(kernels), architecture);
    EXPECT_EQ(image.substr(0, 4), "\x7f"
                                  "ELF");
    for (const auto &name : names)
      EXPECT_NE(image.find(".text." + name + '\0'), std::string::npos) << name;
  }
}

TEST_F(NvrtcTest, WhatItDoesNotContractStaysTwoInstructions) {
  const std::string ptx =
      nvrtc_->compile("extern \"C\" __global__ void k(float *a) { a[0] = a[1] * a[2] + a[3]; }", "compute_80");
  EXPECT_NE(ptx.find(".visible .entry k("), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("mul.rn.f32"), std::string::npos) << ptx;
  EXPECT_EQ(ptx.find("fma"), std::string::npos) << ptx;
}

TEST_F(NvrtcTest, ADeviceNewerThanItselfGetsPtx) {
  const std::string architecture = nvrtc_->architecture(999);
  EXPECT_EQ(architecture.substr(0, 8), "compute_");
  const std::string ptx = nvrtc_->compile("extern \"C\" __global__ void k(float *a) { a[0] = 1; }", architecture);
  EXPECT_NE(ptx.find(".visible .entry k("), std::string::npos) << ptx;
}

TEST_F(NvrtcTest, ADeviceThatIsTooOldIsRefused) {
  try {
    nvrtc_->architecture(20);
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("2.0"), std::string::npos) << error.what();
  }
}

TEST_F(NvrtcTest, ACompileErrorSaysWhatNvrtcSaid) {
  try {
    nvrtc_->compile("extern \"C\" __global__ void k() { int fine; nonsense; }", "sm_80");
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_EQ(std::string(error.what()), "CUDA compile error: identifier \"nonsense\" is undefined");
  }
}

TEST(Nvrtc, WhereNoneCanBeLoadedTheReasonIsSaid) {
  try {
    const Nvrtc none({"/nowhere/libnvrtc.so", "libc.so.6"});
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/libnvrtc.so: cannot open"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("libc.so.6 is not NVRTC"), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace repro_minify
