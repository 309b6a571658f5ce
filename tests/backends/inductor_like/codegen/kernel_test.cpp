#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_library.h"
#include "load.h"
#include "tasks/kernel_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

namespace repro_minify {
namespace {

class KernelTest : public WithKernelFolder {
protected:
  size_t libraries() const {
    size_t count = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder_))
      count += entry.path().extension() == ".so";
    return count;
  }

  /// Runs one kernel on buffers by id.
  static void run(const Kernel &kernel, const std::map<int, void *> &buffers) {
    const KernelSource source = write_kernel("k", kernel);
    const auto library = build_kernels(kernel_file(source.text), {"k"}, 0);
    std::vector<void *> pointers;
    for (const auto &argument : source.arguments)
      pointers.push_back(buffers.at(argument.id));
    (*library)["k"](pointers.data(), 1);
  }
};

TEST_F(KernelTest, ReadsATransposedOperand) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}; // 2 x 3, read as 3 x 2
  std::vector<float> y(6);
  Kernel kernel{{3, 2}, {{{1, Element::Float32}, load(0, Element::Float32, {1, 3})}}};
  run(kernel, {{0, const_cast<float *>(x.data())}, {1, y.data()}});
  EXPECT_EQ(y, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST_F(KernelTest, SumsLongRowsAccurately) {
  const int64_t count = 1 << 20;
  std::vector<float> x(count, 0.1f);
  float sum = 0;
  Kernel kernel{{}, {{{1, Element::Float32}, load(0, Element::Float32, {1}), Fold::Sum, {count}}}};
  run(kernel, {{0, x.data()}, {1, &sum}});
  EXPECT_NEAR(sum, 0.1 * static_cast<double>(count), 0.5); // one by one in float32 it is 100958
}

TEST_F(KernelTest, MeanAndSquaredDifferencesOfNumbersFarFromZero) {
  for (const int64_t count : {1, 3, 8, 129, 1000, 40000}) {
    std::vector<float> x(2 * static_cast<size_t>(count)), mean(2), squares(2);
    for (size_t k = 0; k < x.size(); ++k)
      x[k] = 1000.0f + static_cast<float>(k * 7919 % 101);
    Kernel kernel{{2},
                  {{{1, Element::Float32}, load(0, Element::Float32, {count, 1}), Fold::Mean, {count}},
                   {{2, Element::Float32}, load(0, Element::Float32, {count, 1}), Fold::Squares, {count}}}};
    run(kernel, {{0, x.data()}, {1, mean.data()}, {2, squares.data()}});
    for (size_t row = 0; row < 2; ++row) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row) * count;
      double sum = 0, away = 0;
      for (int64_t k = 0; k < count; ++k)
        sum += begin[k];
      for (int64_t k = 0; k < count; ++k)
        away += (begin[k] - sum / static_cast<double>(count)) * (begin[k] - sum / static_cast<double>(count));
      EXPECT_NEAR(mean[row], sum / static_cast<double>(count), 2e-4) << count;
      EXPECT_NEAR(squares[row], away, 1e-4 * away) << count;
    }
  }
}

TEST_F(KernelTest, TheLargestOfARowWithNanIsNan) {
  std::vector<float> x = {1, std::numeric_limits<float>::quiet_NaN(), 3, 5, 9, 7};
  std::vector<float> y(2);
  Kernel kernel{{2}, {{{1, Element::Float32}, load(0, Element::Float32, {3, 1}), Fold::Largest, {3}}}};
  run(kernel, {{0, x.data()}, {1, y.data()}});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 9);
}

TEST_F(KernelTest, TheSmallestOfBytesDoesNotStartFromZero) {
  std::vector<uint8_t> x = {200, 100, 250};
  uint8_t y = 0;
  Kernel kernel{{}, {{{1, Element::UInt8}, load(0, Element::UInt8, {1}), Fold::Smallest, {3}, Element::UInt8}}};
  run(kernel, {{0, x.data()}, {1, &y}});
  EXPECT_EQ(y, 100);
}

TEST_F(KernelTest, A16BitValueIsRoundedInMemoryOnlyAndToNearestEven) {
  // 1 + 2^-9 rounds to 1 in bfloat16; the second output, in the same kernel, still sees the rest.
  float x = 1.0f + 1.0f / 512;
  uint16_t rounded = 0;
  float seen = 0;
  Kernel kernel{{},
                {{{1, Element::BFloat16}, load(0, Element::Float32, {})},
                 {{2, Element::Float32}, load(1, Element::BFloat16, {})}}};
  run(kernel, {{0, &x}, {1, &rounded}, {2, &seen}});
  EXPECT_EQ(rounded, 0x3f80);
  EXPECT_EQ(seen, x);
  x = 1.0f + 3.0f / 256; // half way between two: to the even one
  run(kernel, {{0, &x}, {1, &rounded}, {2, &seen}});
  EXPECT_EQ(rounded, 0x3f82);
}

TEST_F(KernelTest, AReadElsewhereThanWhereItWasStoredNeedsAnotherKernel) {
  const Kernel::Output first{{1, Element::Float32}, load(0, Element::Float32, {2, 1})};
  EXPECT_TRUE(is_one_loop({{2, 2}, {first, {{2, Element::Float32}, load(1, Element::Float32, {2, 1})}}}));
  EXPECT_FALSE(is_one_loop({{2, 2}, {first, {{2, Element::Float32}, load(1, Element::Float32, {1, 2})}}}));
}

TEST_F(KernelTest, WhatWasCompiledOnceIsNotCompiledAgainAndADamagedFileIs) {
  float x = 1, y = 0;
  const Kernel kernel{{}, {{{1, Element::Float32}, load(0, Element::Float32, {})}}};
  run(kernel, {{0, &x}, {1, &y}});
  run(kernel, {{0, &x}, {1, &y}});
  EXPECT_EQ(libraries(), 1u);
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder_))
    if (entry.path().extension() == ".so")
      std::filesystem::resize_file(entry.path(), 100);
  y = 0;
  run(kernel, {{0, &x}, {1, &y}});
  EXPECT_EQ(y, 1);
}

TEST_F(KernelTest, ACompileErrorSaysWhatTheCompilerSaid) {
  try {
    build_kernels("extern \"C\" void k(void *const *, int) { nonsense; }", {"k"}, 0);
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace repro_minify
