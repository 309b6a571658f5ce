// CUDA kernels against those for the processor, without a GPU: cuda_on_cpu.h says how.
#include "backends/inductor_like/kernel.h"

#include "backends/inductor_like/kernel_library.h"
#include "cuda_on_cpu.h"
#include "load.h"
#include "random_kernels.h"
#include "tasks/kernel_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace repro_minify {
namespace {

class CudaKernelTest : public WithKernelFolder {};

using Buffers = std::map<int, TestBuffer>;

void call(const KernelLibrary &library, const std::string &name, const std::vector<BufferRef> &arguments,
          Buffers &buffers, int last) {
  std::vector<void *> pointers;
  for (const auto &argument : arguments)
    pointers.push_back(buffers.at(argument.id).bytes.data());
  library[name](pointers.data(), last);
}

/// The buffers as each kernel leaves them: the processor's, and CUDA's with all its blocks, and with fewer.
struct Results {
  Buffers processor, cuda, fewer_blocks;
};

std::vector<Results> run_both(const std::vector<TestKernel> &tests) {
  std::string here, there, launchers;
  std::vector<std::string> names, cuda_names;
  std::vector<std::vector<BufferRef>> arguments, cuda_arguments;
  for (const auto &test : tests) {
    const std::string name = "k" + std::to_string(names.size());
    const KernelSource processor = write_kernel(name, test.kernel), cuda = write_cuda_kernel(name, test.kernel);
    here += processor.text;
    there += cuda.text;
    launchers += cuda_launcher(name, cuda, 1u << 20);
    KernelSource again = cuda;
    again.text.clear();
    std::string few = cuda_launcher(name, again, 2);
    launchers += few.replace(few.find("on_cpu_"), 7, "few_");
    names.push_back(name);
    cuda_names.push_back("on_cpu_" + name);
    cuda_names.push_back("few_" + name);
    arguments.push_back(processor.arguments);
    cuda_arguments.push_back(cuda.arguments);
  }
  const auto processor = build_kernels(kernel_file(here), names, 0);
  const auto cuda = build_kernels(cuda_file_on_cpu(there, launchers), cuda_names, 0);
  // Never unloaded: OpenMP would lose a few bytes.
  static auto &kept = *new std::vector<std::shared_ptr<KernelLibrary>>;
  kept.insert(kept.end(), {processor, cuda});
  std::vector<Results> results;
  for (size_t k = 0; k < tests.size(); ++k) {
    Results result{tests[k].buffers, tests[k].buffers, tests[k].buffers};
    call(*processor, names[k], arguments[k], result.processor, /*threads=*/1);
    call(*cuda, "on_cpu_" + names[k], cuda_arguments[k], result.cuda, /*seed=*/1);
    call(*cuda, "few_" + names[k], cuda_arguments[k], result.fewer_blocks, /*seed=*/2);
    results.push_back(std::move(result));
  }
  return results;
}

bool agree(double expected, double found, bool rounds, Element element) {
  if (std::isnan(expected) || std::isnan(found))
    return std::isnan(expected) && std::isnan(found);
  if (!rounds || std::isinf(expected) || std::isinf(found))
    return expected == found;
  const double unit = element == Element::BFloat16 ? 1e-2 : element == Element::Float16 ? 1e-3 : 1e-4;
  return std::fabs(expected - found) <= unit * (1 + std::fabs(expected));
}

TEST_F(CudaKernelTest, ComputesWhatTheProcessorComputes) {
  const auto tests = random_kernels(/*seed=*/3, /*rounds=*/1);
  const auto results = run_both(tests);
  for (size_t k = 0; k < tests.size(); ++k)
    for (const auto &output : tests[k].kernel.outputs) {
      const int id = output.buffer.id;
      const TestBuffer &expected = results[k].processor.at(id), &found = results[k].cuda.at(id);
      for (size_t at = 0; at < expected.size(); ++at)
        ASSERT_TRUE(agree(expected.value(at), found.value(at), tests[k].rounds, found.element))
            << tests[k].description << ", output " << id << " at " << at << ": " << expected.value(at) << " expected, "
            << found.value(at) << " found\n"
            << write_cuda_kernel("k", tests[k].kernel).text;
      // Bit by bit: nothing depends on how many blocks there are, nor on the order of blocks and threads.
      EXPECT_EQ(found.bytes, results[k].fewer_blocks.at(id).bytes) << tests[k].description;
    }
}

TEST_F(CudaKernelTest, ZerosKeepTheirSigns) {
  TestKernel test;
  test.buffers[0] = TestBuffer(Element::Float32, 2);
  test.buffers[0].set(0, -0.0);
  test.buffers[1] = TestBuffer(Element::Float16, 2);
  test.buffers[2] = TestBuffer(Element::BFloat16, 2);
  test.kernel = {{2},
                 {{{1, Element::Float16}, load(0, Element::Float32, {1})},
                  {{2, Element::BFloat16}, load(0, Element::Float32, {1})}}};
  const Buffers found = run_both({test})[0].cuda;
  for (const int id : {1, 2}) {
    EXPECT_TRUE(std::signbit(found.at(id).value(0)));
    EXPECT_FALSE(std::signbit(found.at(id).value(1)));
  }
}

TEST_F(CudaKernelTest, Every16BitNumberIsReadAndRoundedAsTheProcessorDoes) {
  std::vector<TestKernel> tests;
  for (const Element element : {Element::Float16, Element::BFloat16}) {
    TestBuffer all(element, 1 << 16);
    for (size_t k = 0; k < all.size(); ++k)
      all.set_as(k, static_cast<uint16_t>(k));
    // Each number, the middle to the next one, and what lies just beside either.
    TestBuffer near(Element::Float32, 6 << 16);
    for (size_t k = 0; k < all.size(); ++k) {
      const auto here = static_cast<float>(all.value(k));
      const auto middle = static_cast<float>((all.value(k) + all.value((k + 1) % all.size())) / 2);
      size_t next = 6 * k;
      for (const float number : {here, middle})
        for (const float other : {std::nextafter(number, -HUGE_VALF), number, std::nextafter(number, HUGE_VALF)})
          near.set_as(next++, other);
    }
    const int64_t count = 1 << 16;
    tests.push_back({{{count}, {{{1, Element::Float32}, load(0, element, {1})}}},
                     {{0, all}, {1, TestBuffer(Element::Float32, all.size())}},
                     "read"});
    tests.push_back({{{6 * count}, {{{1, element}, load(0, Element::Float32, {1})}}},
                     {{0, near}, {1, TestBuffer(element, near.size())}},
                     "rounded"});
  }
  const auto results = run_both(tests);
  for (size_t k = 0; k < tests.size(); ++k) {
    const TestBuffer &expected = results[k].processor.at(1), &found = results[k].cuda.at(1);
    for (size_t at = 0; at < expected.size(); ++at) {
      const double e = expected.value(at), f = found.value(at);
      ASSERT_TRUE((std::isnan(e) && std::isnan(f)) || (e == f && std::signbit(e) == std::signbit(f)))
          << tests[k].description << " " << storage_type(tests[k].buffers.at(0).element) << " at " << at << ": " << e
          << " expected, " << f << " found";
    }
  }
}

TEST_F(CudaKernelTest, SumsLongRowsAccurately) {
  TestKernel test;
  const int64_t count = 1 << 20;
  test.buffers[0] = TestBuffer(Element::Float32, count);
  for (size_t k = 0; k < count; ++k)
    test.buffers[0].set(k, 0.1);
  test.buffers[1] = TestBuffer(Element::Float32, 1);
  test.kernel = {{}, {{{1, Element::Float32}, load(0, Element::Float32, {1}), Fold::Sum, {count}}}};
  EXPECT_NEAR(run_both({test})[0].cuda.at(1).value(0), 0.1 * count, 0.5); // one by one in float32 it is 100958
}

TEST_F(CudaKernelTest, LargeNumbersOnTheWayToAPlaceDoNotOverflow) {
  TestKernel test;
  test.buffers[0] = TestBuffer(Element::Int32, 4);
  for (size_t k = 0; k < 4; ++k)
    test.buffers[0].set_as(k, static_cast<int32_t>(k + 10));
  test.buffers[1] = TestBuffer(Element::Int32, 12);
  test.kernel = {{4, 3},
                 {{{1, Element::Int32}, [](Body &body, const std::vector<Index> &at) {
                     return body.load({0, Element::Int32}, (at[0] * (1 << 30) + at[1]).divided_by((1 << 30) - 1));
                   }}}};
  const TestBuffer found = run_both({test})[0].cuda.at(1);
  for (size_t k = 0; k < 12; ++k)
    EXPECT_EQ(found.as<int32_t>(k), static_cast<int32_t>(k / 3 + 10)) << k;
}

/// The fold is used again at once, as by a kernel that does several places: no thread may still read the last result.
TEST_F(CudaKernelTest, EveryThreadOfABlockGetsItsFoldAgainAndAgain) {
  const std::string kernel = R"(
extern "C" __global__ void k(int64_t *b0) {
  for (int round = 0; round < 4; ++round)
    b0[round * 256 + threadIdx.x] =
        folded_by_block<int64_t>(threadIdx.x + round, [](int64_t a, int64_t b) { a += b; return a; });
}
)";
  const auto library =
      build_kernels(cuda_file_on_cpu(kernel, cuda_launcher("k", {"", {{0, Element::Int64}}, 1}, 1)), {"on_cpu_k"}, 0);
  std::vector<int64_t> sums(4 * cuda_threads);
  void *pointer = sums.data();
  (*library)["on_cpu_k"](&pointer, /*seed=*/1);
  for (size_t k = 0; k < sums.size(); ++k)
    ASSERT_EQ(sums[k], 255 * 128 + 256 * static_cast<int64_t>(k / 256)) << k;
}

TEST(CudaKernel, ShortRowsAreFoldedByAThreadAndLongOnesByABlock) {
  const auto kernel = [](int64_t row) {
    return Kernel{{1000}, {{{1, Element::Float32}, load(0, Element::Float32, {row, 1}), Fold::Sum, {row}}}};
  };
  EXPECT_EQ(write_cuda_kernel("k", kernel(64)).blocks, 4u);
  EXPECT_EQ(write_cuda_kernel("k", kernel(65)).blocks, 1000u);
}

TEST(CudaKernel, NothingToComputeIsNoBlock) {
  EXPECT_EQ(write_cuda_kernel("k", {{0, 3}, {{{1, Element::Float32}, load(0, Element::Float32, {3, 1})}}}).blocks, 0u);
}

TEST(CudaKernel, IndicesHaveTheBitsThatTheyNeed) {
  const auto text = [](const std::vector<int64_t> &sizes, const Loader &value) {
    return write_cuda_kernel("k", {sizes, {{{1, Element::Float32}, value}}}).text;
  };
  const auto is_wide = [](const std::string &kernel) { return kernel.find("for (int64_t flat") != std::string::npos; };
  const int64_t large = 1 << 30;
  EXPECT_FALSE(is_wide(text({large}, load(0, Element::Float32, {1}))));
  EXPECT_TRUE(is_wide(text({2 * large}, load(0, Element::Float32, {1}))));
  EXPECT_TRUE(is_wide(text({4}, load(0, Element::Float32, {large}))));
  // The dividend is large, the quotient is not.
  EXPECT_TRUE(is_wide(text({4, 3}, [&](Body &body, const std::vector<Index> &at) {
    return body.load({0, Element::Float32}, (at[0] * large + at[1]).divided_by(large - 1));
  })));
  const std::string row =
      write_cuda_kernel("k", {{}, {{{1, Element::Float32}, load(0, Element::Float32, {0}), Fold::Sum, {4 * large}}}})
          .text;
  EXPECT_NE(row.find("for (int64_t s0r"), std::string::npos) << row;
}

TEST(CudaKernel, WhatIsContiguousNeedsNoDivision) {
  const Kernel kernel{{4, 5, 6}, {{{1, Element::Float32}, load(0, Element::Float32, {30, 6, 1})}}};
  EXPECT_EQ(write_cuda_kernel("k", kernel).text.find('/'), std::string::npos);
}

} // namespace
} // namespace repro_minify
