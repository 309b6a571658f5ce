// Kernels that are computed in strips: functions of many numbers at once, chains of them, folds of columns.
#include "all_tests.h"
#include "backends/inductor_like/kernel_strips.h"

#include "backends/inductor_like/kernel_library.h"
#include "backends/inductor_like/kernel_math.h"
#include "load.h"
#include "random_kernels.h"
#include "tasks/kernel_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>

namespace repro_minify {
namespace {

class StripsTest : public WithKernelFolder {
protected:
  /// Compiles all of them at once, and runs each on its buffers.
  static void run(std::vector<TestKernel> &tests) {
    std::string text;
    std::vector<std::string> names;
    std::vector<KernelSource> sources;
    for (const auto &test : tests) {
      names.push_back("k" + std::to_string(names.size()));
      sources.push_back(write_kernel(names.back(), test.kernel));
      text += sources.back().text;
    }
    const auto library = build_kernels(kernel_file(text), names, 0);
    static auto &kept = *new std::vector<std::shared_ptr<KernelLibrary>>; // OpenMP stays
    kept.push_back(library);
    for (size_t k = 0; k < tests.size(); ++k) {
      std::vector<void *> pointers;
      for (const auto &argument : sources[k].arguments)
        pointers.push_back(tests[k].buffers.at(argument.id).bytes.data());
      (*library)[names[k]](pointers.data(), /*threads=*/k % 2 ? 2 : 1);
    }
  }
};

/// An expression of float operands, $0 and so on.
Loader computed(const std::string &expression, const std::vector<Loader> &operands) {
  return [=](Body &body, const std::vector<Index> &at) {
    std::string text;
    for (size_t k = 0; k < expression.size(); ++k)
      if (expression[k] == '$')
        text += operands.at(static_cast<size_t>(expression[++k] - '0'))(body, at);
      else
        text += expression[k];
    return body.local("float", text);
  };
}

TestBuffer numbers(size_t count, float step) {
  TestBuffer buffer(Element::Float32, count);
  for (size_t k = 0; k < count; ++k)
    buffer.set(k, std::sin(static_cast<float>(k) * step) * 2);
  return buffer;
}

std::string text_of(const Kernel &kernel) {
  return write_kernel("k", kernel).text;
}

/// x and y are read again where they are needed again, values in between are not computed again, and one of them is in
/// memory in 16 bits.
TestKernel chain(std::vector<int64_t> sizes) {
  TestKernel test;
  const auto count = static_cast<size_t>(std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()));
  const auto strides = contiguous_strides(sizes);
  const Loader x = load(0, Element::Float32, strides), y = load(1, Element::Float32, strides);
  const Loader first = computed("math_tanhf($0)", {x});
  const Loader second = computed("math_expf($0)", {computed("$0 * $1 - $2", {first, y, x})});
  const Loader third = computed("$0 + float(1) / math_vectorized_expf($1)", {second, computed("$0 + $1", {second, y})});
  const Loader fourth = computed("math_vectorized_tanhf($0) - math_tanhf($1)", {third, y});
  test.kernel.sizes = std::move(sizes);
  test.kernel.outputs = {{{2, Element::Float32}, computed("$0 * $1", {first, second})},
                         {{3, Element::BFloat16}, third},
                         {{4, Element::Float32}, computed("math_erff($0) + $1", {fourth, first})}};
  test.buffers = {{0, numbers(count, 0.1f)},
                  {1, numbers(count, 0.37f)},
                  {2, TestBuffer(Element::Float32, count)},
                  {3, TestBuffer(Element::BFloat16, count)},
                  {4, TestBuffer(Element::Float32, count)}};
  return test;
}

TEST_F(StripsTest, AChainOfFunctionsGivesEachElementWhatItGivesItAlone) {
  std::vector<TestKernel> tests;
  for (const int64_t size : {1, 15, 16, 17, 255, 256, 257, 513, 1000})
    tests.push_back(chain({size}));
  tests.push_back(chain({70, 300}));
  run(tests);
  for (const auto &test : tests)
    for (size_t k = 0; k < test.buffers.at(0).size(); ++k) {
      const auto x = test.buffers.at(0).as<float>(k), y = test.buffers.at(1).as<float>(k);
      const float first = std::tanh(x), second = std::exp(first * y - x);
      const float third = second + 1.0f / std::exp(second + y), fourth = std::tanh(third) - std::tanh(y);
      ASSERT_EQ(test.buffers.at(2).as<float>(k), first * second) << test.buffers.at(0).size() << ", " << k;
      ASSERT_NEAR(test.buffers.at(3).value(k), third, 0.004 * std::fabs(third)) << k;
      ASSERT_EQ(test.buffers.at(4).as<float>(k), std::erf(fourth) + first) << k;
    }
}

size_t arrays_in(const Kernel &kernel) {
  const std::string text = text_of(kernel);
  size_t count = 0;
  for (size_t at = 0; (at = text.find("alignas", at)) != std::string::npos; ++at)
    ++count;
  return count;
}

TEST_F(StripsTest, FunctionsOfManyNumbersAreCalledForAStripIfItIsWorthIt) {
  const auto calls_arrays = [](const Kernel &kernel) {
    return text_of(kernel).find("math_array_tanhf(") != std::string::npos;
  };
  EXPECT_TRUE(calls_arrays(chain({shortest_strip}).kernel));
  EXPECT_FALSE(calls_arrays(chain({shortest_strip - 1}).kernel));
}

/// The compiler calls SLEEF's for a vector: one alone needs no strip, one of another's result is a loop of its own.
TEST_F(StripsTest, OnlyWhatALaterPhaseNeedsIsInAnArray) {
  const auto arrays = [](const Loader &value) { return arrays_in({{1000}, {{{2, Element::Float32}, value}}}); };
  const Loader x = load(0, Element::Float32, {1}), y = load(1, Element::Float32, {1});
  const Loader slow = computed("math_vectorized_tanhf($0)", {x});
  EXPECT_EQ(arrays(slow), 0u);
  EXPECT_EQ(arrays(computed("$0 * $1", {slow, computed("math_vectorized_expf($0)", {y})})), 0u);
  EXPECT_EQ(arrays(computed("math_vectorized_expf($0) + $1", {slow, y})), 1u);
  EXPECT_EQ(arrays(computed("math_tanhf($0)", {x})), 2u);
  // x is read again, the product with it is computed before and used before.
  EXPECT_EQ(arrays(computed("$0 * $1 + $1", {computed("math_tanhf($0)", {computed("$0 * $1", {x, y})}), x})), 2u);
}

TEST_F(StripsTest, ARowOfFunctionsIsFoldedInOrder) {
  std::vector<TestKernel> tests;
  for (const int64_t count : {15, 16, 100, 1024, 1025, 2500}) {
    TestKernel test;
    const Loader x = load(0, Element::Float32, {count, 1});
    test.kernel = {
        {3},
        {{{1, Element::Float32}, computed("math_expf($0)", {x}), Fold::Sum, {count}},
         {{2, Element::Float32}, computed("math_tanhf($0) * $1", {computed("-$0", {x}), x}), Fold::Largest, {count}}}};
    test.buffers = {{0, numbers(static_cast<size_t>(3 * count), 0.1f)},
                    {1, TestBuffer(Element::Float32, 3)},
                    {2, TestBuffer(Element::Float32, 3)}};
    if (count == 100)
      test.buffers.at(0).set(150, NAN);
    tests.push_back(std::move(test));
  }
  run(tests);
  for (const auto &test : tests)
    for (size_t row = 0; row < 3; ++row) {
      const size_t count = test.buffers.at(0).size() / 3;
      double sum = 0;
      float largest = -HUGE_VALF;
      for (size_t k = 0; k < count; ++k) {
        const auto x = test.buffers.at(0).as<float>(row * count + k);
        sum += std::exp(x);
        largest = std::isnan(x) || std::isnan(largest) ? NAN : std::max(largest, std::tanh(-x) * x);
      }
      const auto found = test.buffers.at(1).as<float>(row), most = test.buffers.at(2).as<float>(row);
      if (std::isnan(sum)) {
        EXPECT_TRUE(std::isnan(found) && std::isnan(most)) << count;
        continue;
      }
      EXPECT_NEAR(found, sum, 1e-6 * sum) << count;
      EXPECT_EQ(most, largest) << count;
    }
}

/// The same numbers twice: those of a column one after the other, and those of a row.
struct Layouts {
  TestKernel by_row, by_columns;
};

Layouts fold_in_both(Element element, Fold fold, int64_t columns, int64_t rows) {
  const int64_t outer = 2, more = 3, all = outer * more * rows * columns;
  const bool logical = fold == Fold::Any || fold == Fold::All;
  const Element result = logical ? Element::Bool : element;
  Layouts both;
  TestBuffer along(element, static_cast<size_t>(all)), across = along;
  for (int64_t a = 0, next = 0; a < outer; ++a)
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < more * rows; ++r, ++next) {
        const double sign = next * 7919 % 11 < 5 ? -1 : 1;
        double number = fold == Fold::Product ? sign * (next % 5 ? 1.0 : 1.03125) : std::sin(next) * 20;
        if (fold == Fold::Sum || !is_floating(element))
          number = std::round(number); // sums of these are exact, whatever their order
        if (is_floating(element) && next % 997 == 996)
          number = next % 2 ? NAN : -0.0;
        if (element == Element::UInt8 || (logical && next % 3))
          number = fold == Fold::All ? 1 : std::fabs(number);
        along.set(static_cast<size_t>(next), number);
        across.set(static_cast<size_t>((a * more * rows + r) * columns + c), number);
      }
  const auto kernel = [&](const std::vector<int64_t> &strides, const TestBuffer &buffer) {
    TestKernel test;
    const Loader x = load(0, element, strides);
    const Loader value =
        logical ? [x](Body &body, const std::vector<Index> &at) { return body.local("bool", x(body, at) + " != 0"); }
                : x;
    const Element accumulator = compute_element(result);
    test.kernel = {{outer, columns}, {{{1, result}, value, fold, {more, rows}, accumulator}}};
    test.buffers = {{0, buffer}, {1, TestBuffer(result, static_cast<size_t>(outer * columns))}};
    test.rounds = fold == Fold::Product && is_floating(element);
    test.description = "fold " + std::to_string(static_cast<int>(fold)) + " of " + storage_type(element) + ", " +
                       std::to_string(columns) + " columns of " + std::to_string(more * rows);
    return test;
  };
  both.by_row = kernel({columns * more * rows, more * rows, rows, 1}, along);
  both.by_columns = kernel({more * rows * columns, 1, rows * columns, columns}, across);
  return both;
}

TEST_F(StripsTest, ColumnsFoldToWhatTheyFoldToOneByOne) {
  std::vector<TestKernel> tests;
  const std::pair<int64_t, int64_t> shapes[] = {{16, 5}, {17, 2}, {40, 43}, {257, 3}, {530, 2}};
  for (const Element element : all_elements)
    for (const Fold fold : {Fold::Sum, Fold::Product, Fold::Largest, Fold::Smallest, Fold::Any, Fold::All}) {
      if (element == Element::Bool && (fold == Fold::Sum || fold == Fold::Product))
        continue; // are integers
      const auto [columns, rows] = shapes[tests.size() / 2 % std::size(shapes)];
      Layouts both = fold_in_both(element, fold, columns, rows);
      ASSERT_EQ(text_of(both.by_row.kernel).find("alignas"), std::string::npos) << both.by_row.description;
      ASSERT_NE(text_of(both.by_columns.kernel).find("alignas"), std::string::npos) << both.by_columns.description;
      tests.push_back(std::move(both.by_row));
      tests.push_back(std::move(both.by_columns));
    }
  run(tests);
  for (size_t k = 0; k < tests.size(); k += 2) {
    const TestBuffer &expected = tests[k].buffers.at(1), &found = tests[k + 1].buffers.at(1);
    for (size_t at = 0; at < expected.size(); ++at) {
      const double e = expected.value(at), f = found.value(at);
      ASSERT_TRUE((std::isnan(e) && std::isnan(f)) || e == f ||
                  (tests[k].rounds && std::fabs(e - f) <= 1e-5 * std::fabs(e)))
          << tests[k].description << " at " << at << ": " << e << " expected, " << f << " found\n"
          << text_of(tests[k + 1].kernel);
    }
  }
}

TEST_F(StripsTest, LongColumnsAreSummedAccurately) {
  TestKernel test;
  const int64_t rows = 1 << 16, columns = 20;
  test.kernel = {{columns}, {{{1, Element::Float32}, load(0, Element::Float32, {1, columns}), Fold::Sum, {rows}}}};
  test.buffers = {{0, TestBuffer(Element::Float32, static_cast<size_t>(rows * columns))},
                  {1, TestBuffer(Element::Float32, static_cast<size_t>(columns))}};
  for (size_t k = 0; k < test.buffers.at(0).size(); ++k)
    test.buffers.at(0).set(k, 0.1);
  std::vector<TestKernel> tests = {test};
  run(tests);
  for (size_t k = 0; k < 20; ++k)
    EXPECT_NEAR(tests[0].buffers.at(1).value(k), 0.1 * static_cast<double>(rows), 0.02); // one by one it is 6563.9
}

/// A fold of rows, one of columns that calls functions and needs what there is for each column, and what needs both.
TEST_F(StripsTest, RowsAndColumnsInOneKernel) {
  std::vector<TestKernel> tests;
  for (const int64_t size : {16, 61, 300}) {
    TestKernel test;
    const Loader row = load(0, Element::Float32, {size, 1}), column = load(0, Element::Float32, {1, size});
    const Loader scale = computed("math_tanhf($0)", {[](Body &body, const std::vector<Index> &at) {
                                    return body.load({1, Element::Float32}, at[0]);
                                  }});
    const auto made = [](int id) {
      return [id](Body &body, const std::vector<Index> &at) { return body.load({id, Element::Float32}, at[0]); };
    };
    test.kernel = {
        {size},
        {{{2, Element::Float32}, computed("$0 * $1", {scale, scale})},
         {{3, Element::Float32}, row, Fold::Largest, {size}},
         {{4, Element::Float32},
          computed("$0 - $1 * $2", {computed("math_expf($0)", {computed("$0 * $1", {column, made(2)})}),
                                    computed("math_cosf($0)", {scale}), made(1)}),
          Fold::Smallest,
          {size}},
         {{5, Element::Float32},
          computed("$0 + $1", {computed("math_sinf($0)", {computed("$0 * $1", {made(3), made(4)})}), scale})}}};
    test.kernel.outputs[0].is_read = false; // of no use but to the kernel itself
    test.buffers = {{0, numbers(static_cast<size_t>(size * size), 0.013f)},
                    {1, numbers(static_cast<size_t>(size), 0.3f)}};
    for (const int id : {3, 4, 5})
      test.buffers[id] = TestBuffer(Element::Float32, static_cast<size_t>(size));
    tests.push_back(std::move(test));
  }
  run(tests);
  for (const auto &test : tests) {
    const size_t size = test.buffers.at(1).size();
    for (size_t c = 0; c < size; ++c) {
      const auto number = test.buffers.at(1).as<float>(c);
      const float scale = std::tanh(number), square = scale * scale;
      float largest = -HUGE_VALF, smallest = HUGE_VALF;
      for (size_t r = 0; r < size; ++r) {
        largest = std::max(largest, test.buffers.at(0).as<float>(c * size + r));
        smallest = std::min(smallest,
                            std::exp(test.buffers.at(0).as<float>(r * size + c) * square) - std::cos(scale) * number);
      }
      ASSERT_EQ(test.buffers.at(3).as<float>(c), largest) << size << ", " << c;
      ASSERT_EQ(test.buffers.at(4).as<float>(c), smallest) << size << ", " << c << text_of(test.kernel);
      ASSERT_EQ(test.buffers.at(5).as<float>(c), std::sin(largest * smallest) + scale) << size << ", " << c;
    }
  }
}

TEST_F(StripsTest, ManyArraysMakeAStripShort) {
  std::vector<Loader> values = {load(0, Element::Float32, {1})};
  for (int k = 0; k < 100; ++k)
    values.push_back(computed("math_tanhf($0)", {computed("$0 * float(0.5)", {values.back()})}));
  Kernel kernel{{100000}, {}};
  for (int k = 1; k <= 100; ++k)
    kernel.outputs.push_back({{k, Element::Float32}, values[static_cast<size_t>(k)]});
  EXPECT_NE(text_of(kernel).find("i0b += 32"), std::string::npos);
  EXPECT_NE(text_of(chain({100000}).kernel).find("i0b += 256"), std::string::npos);
}

TEST_F(StripsTest, AnUnreadValueIsNoArgument) {
  TestKernel test = chain({100});
  test.kernel.outputs[1].is_read = false;
  for (const auto &argument : write_kernel("k", test.kernel).arguments)
    EXPECT_NE(argument.id, 3);
}

/// With MKL and without: only one of them is what the LibTorch here needs.
TEST_F(StripsTest, BothSourcesOfFunctionsCompile) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  for (const bool mkl : {true, false}) {
    const std::string base = folder_ + (mkl ? "/with" : "/without");
    std::ofstream(base + ".cpp") << vector_math_source(mkl);
    std::string command = find_compiler();
    for (const auto &flag : kernel_flags())
      command += " " + flag;
    EXPECT_EQ(std::system((command + " -c " + base + ".cpp -o " + base + ".o").c_str()), 0) << mkl;
  }
}

} // namespace
} // namespace repro_minify
