// Kernels of every element type and every fold, over views of all kinds, with data for them.
#pragma once
#include "all_tests.h"
#include "backends/inductor_like/kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <random>

namespace repro_minify {

inline size_t bytes_of(Element element) {
  constexpr size_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(element)];
}

/// Memory of one element type.
struct TestBuffer {
  Element element = Element::Float32;
  std::vector<unsigned char> bytes;

  TestBuffer() = default;
  TestBuffer(Element of, size_t count) : element(of), bytes(count * bytes_of(of)) {}
  size_t size() const { return bytes.size() / bytes_of(element); }
  template <typename T> T as(size_t k) const {
    T value;
    std::memcpy(&value, bytes.data() + k * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set_as(size_t k, T value) { std::memcpy(bytes.data() + k * sizeof(T), &value, sizeof(T)); }

  double value(size_t k) const {
    switch (element) {
    case Element::Bool:
    case Element::UInt8:
      return as<uint8_t>(k);
    case Element::Int8:
      return as<int8_t>(k);
    case Element::Int16:
      return as<int16_t>(k);
    case Element::Int32:
      return as<int32_t>(k);
    case Element::Int64:
      return static_cast<double>(as<int64_t>(k));
    case Element::Float16: {
      const unsigned bits = as<uint16_t>(k), size = bits & 0x7fff, exponent = size >> 10;
      const double magnitude = exponent == 31  ? (size & 0x3ff ? NAN : HUGE_VAL)
                               : exponent == 0 ? std::ldexp(size, -24)
                                               : std::ldexp((size & 0x3ff) + 1024, static_cast<int>(exponent) - 25);
      return bits & 0x8000 ? -magnitude : magnitude;
    }
    case Element::BFloat16: {
      const uint32_t word = static_cast<uint32_t>(as<uint16_t>(k)) << 16;
      float number = 0;
      std::memcpy(&number, &word, 4);
      return number;
    }
    case Element::Float32:
      return as<float>(k);
    default:
      return as<double>(k);
    }
  }

  /// Cut off rather than rounded where it is stored in 16 bits.
  void set(size_t k, double number) {
    switch (element) {
    case Element::Bool:
      return set_as<uint8_t>(k, number != 0);
    case Element::UInt8:
      return set_as(k, static_cast<uint8_t>(static_cast<int>(number)));
    case Element::Int8:
      return set_as(k, static_cast<int8_t>(number));
    case Element::Int16:
      return set_as(k, static_cast<int16_t>(number));
    case Element::Int32:
      return set_as(k, static_cast<int32_t>(number));
    case Element::Int64:
      return set_as(k, static_cast<int64_t>(number));
    case Element::Float16: {
      int exponent = 0;
      const double fraction = std::frexp(std::fabs(number), &exponent);
      unsigned bits = std::isnan(number)                              ? 0x7e00
                      : std::isinf(number) || std::fabs(number) > 6e4 ? 0x7c00
                      : exponent < -13 ? static_cast<unsigned>(std::ldexp(std::fabs(number), 24))
                                       : static_cast<unsigned>((exponent + 14) << 10) +
                                             static_cast<unsigned>(std::ldexp(fraction, 11)) - 1024;
      return set_as(k, static_cast<uint16_t>(bits | (std::signbit(number) ? 0x8000 : 0)));
    }
    case Element::BFloat16: {
      const auto single = static_cast<float>(number);
      uint32_t word = 0;
      std::memcpy(&word, &single, 4);
      return set_as(k, static_cast<uint16_t>(word >> 16));
    }
    case Element::Float32:
      return set_as(k, static_cast<float>(number));
    default:
      return set_as(k, number);
    }
  }
};

inline constexpr std::array<Element, 10> all_elements = {
    Element::Bool,  Element::UInt8,   Element::Int8,     Element::Int16,   Element::Int32,
    Element::Int64, Element::Float16, Element::BFloat16, Element::Float32, Element::Float64};

/// A kernel and the memory it reads and writes, by buffer.
struct TestKernel {
  Kernel kernel;
  std::map<int, TestBuffer> buffers;
  std::string description;
  bool rounds = false; ///< a sum or product of floats, whose order is free
};

class RandomKernels {
public:
  explicit RandomKernels(unsigned seed) : random_(seed) {}

  TestKernel pointwise(Element element) {
    TestKernel test;
    test.kernel.sizes = random_sizes();
    test.description = "pointwise on " + std::string(storage_type(element));
    const Loader a = operand(test, 0, element, test.kernel.sizes, Data::Anything);
    const Loader b = operand(test, 1, element, test.kernel.sizes, Data::Anything);
    const std::string type = compute_type(element);
    add(test, 2, element, computed(a, b, type, is_floating(element) ? "$0 * $1 + $0" : "$0 + $1"));
    add(test, 3, Element::Bool, computed(a, b, "bool", "$0 < $1"));
    add(test, 4, element, computed(a, b, type, "largest_of<" + type + ">($0, $1)"));
    add(test, 5, Element::Float32, computed(a, b, "float", "static_cast<float>($0)"));
    // It reads what the kernel itself has made.
    const Loader made = [element, sizes = test.kernel.sizes](Body &body, const std::vector<Index> &at) {
      return body.load({2, element}, flat_index(at, contiguous_strides(sizes)));
    };
    add(test, 6, Element::Float64, computed(made, a, "double", "static_cast<double>($0)"));
    if (is_floating(element)) {
      const std::string end = std::string(compute_element(element) == Element::Float32 ? "f" : "") + "(";
      add(test, 7, element,
          computed(a, b, type,
                   "__builtin_sqrt" + end + "__builtin_fabs" + end + "$0)) + __builtin_floor" + end + "$1)"));
      add(test, 8, element,
          computed(a, b, type,
                   "$0 > $1 ? static_cast<" + type + ">(__builtin_inf()) : -static_cast<" + type +
                       ">(__builtin_nan(\"\"))"));
    } else if (element != Element::Bool) {
      add(test, 7, element, computed(a, b, type, "absolute<" + type + ">($0) + sign_of<" + type + ">($1)"));
      add(test, 8, element, computed(a, b, type, "$1 == 0 || $1 == -1 ? $0 : floor_quotient<" + type + ">($0, $1)"));
    }
    return test;
  }

  TestKernel reduction(Element element, Fold fold, bool long_rows) {
    TestKernel test;
    test.kernel.sizes = random_sizes(/*few=*/long_rows);
    const std::vector<std::vector<int64_t>> rows =
        long_rows ? std::vector<std::vector<int64_t>>{{65}, {3, 50}, {2, 1, 129}, {1000}}
                  : std::vector<std::vector<int64_t>>{{1}, {7}, {4, 3}, {2, 5, 6}, {64}};
    const auto folded = rows[random_() % rows.size()];
    std::vector<int64_t> all = test.kernel.sizes;
    all.insert(all.end(), folded.begin(), folded.end());
    test.description = "fold " + std::to_string(static_cast<int>(fold)) + " of " + storage_type(element) +
                       " over rows of " + std::to_string(folded.back());
    const bool floating = is_floating(element);
    test.rounds = floating && (fold == Fold::Sum || fold == Fold::Product);
    const Loader values = operand(test, 0, element, all,
                                  fold == Fold::Product ? Data::NearOne
                                  : fold == Fold::Sum   ? Data::Small
                                                        : Data::Anything);
    const bool logical = fold == Fold::Any || fold == Fold::All;
    const bool counts = element == Element::Bool && (fold == Fold::Sum || fold == Fold::Product);
    const Element result = logical ? Element::Bool : counts ? Element::Int64 : element;
    add(test, 1, result, values, fold, folded, compute_element(result));
    // A second one that needs the first, and what needs both.
    const Loader first = [sizes = test.kernel.sizes,
                          buffer = test.kernel.outputs[0].buffer](Body &body, const std::vector<Index> &at) {
      return body.load(buffer, flat_index({at.begin(), at.begin() + static_cast<std::ptrdiff_t>(sizes.size())},
                                          contiguous_strides(sizes)));
    };
    add(test, 2, Element::Int64, computed(values, first, "bool", "$0 == $1"), Fold::Sum, folded, Element::Int64);
    const Loader second = [sizes = test.kernel.sizes](Body &body, const std::vector<Index> &at) {
      return body.load({2, Element::Int64}, flat_index(at, contiguous_strides(sizes)));
    };
    add(test, 3, Element::Float64,
        computed(first, second, "double", "static_cast<double>($0) + static_cast<double>($1)"));
    if (test.rounds)
      test.kernel.outputs.resize(1); // the others would see differences in the last bit
    return test;
  }

private:
  enum class Data { Anything, Small, NearOne };

  static void add(TestKernel &test, int id, Element element, Loader value, Fold fold = Fold::None,
                  std::vector<int64_t> folded = {}, Element accumulator = Element::Float32) {
    size_t count = 1;
    for (const int64_t size : test.kernel.sizes)
      count *= static_cast<size_t>(size);
    test.buffers[id] = TestBuffer(element, count);
    test.kernel.outputs.push_back({{id, element}, std::move(value), fold, std::move(folded), accumulator});
  }

  static Loader computed(const Loader &a, const Loader &b, const std::string &type, const std::string &expression) {
    return [=](Body &body, const std::vector<Index> &at) {
      std::string text;
      for (size_t k = 0; k < expression.size(); ++k)
        if (expression[k] == '$')
          text += (expression[++k] == '0' ? a : b)(body, at);
        else
          text += expression[k];
      return body.local(type, "static_cast<" + type + ">(" + text + ")");
    };
  }

  /// `few` places: each is a block of threads.
  std::vector<int64_t> random_sizes(bool few = false) {
    static const std::vector<int64_t> choices = {1, 2, 3, 5, 8, 17};
    std::vector<int64_t> sizes(random_() % (few ? 2 : 4));
    for (auto &size : sizes)
      size = choices[random_() % choices.size()];
    return sizes;
  }

  /// A view of a new buffer: permuted, broadcast along some dimensions, with an offset, or reshaped.
  Loader operand(TestKernel &test, int id, Element element, const std::vector<int64_t> &sizes, Data data) {
    std::vector<size_t> order(sizes.size());
    for (size_t d = 0; d < order.size(); ++d)
      order[d] = d;
    if (random_() % 2)
      std::shuffle(order.begin(), order.end(), random_);
    std::vector<int64_t> strides(sizes.size(), 0);
    int64_t next = 1;
    for (size_t k = order.size(); k-- > 0;)
      if (random_() % 5) {
        strides[order[k]] = next;
        next *= sizes[order[k]];
      }
    const int64_t offset = random_() % 3 ? 0 : 3;
    test.buffers[id] = filled(element, static_cast<size_t>(next + offset), data);
    if (random_() % 3 == 0) // as if it were flat, in rows of another length
      return [=, row = static_cast<int64_t>(2 + random_() % 5)](Body &body, const std::vector<Index> &at) {
        const Index flat = flat_index(at, strides);
        return body.load({id, element}, flat.divided_by(row) * row + flat.modulo(row) + offset);
      };
    return [=](Body &body, const std::vector<Index> &at) {
      return body.load({id, element}, flat_index(at, strides) + offset);
    };
  }

  TestBuffer filled(Element element, size_t count, Data data) {
    TestBuffer buffer(element, count);
    std::normal_distribution<double> normal(0, 3);
    static const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL, -0.0, 0.0, 1e-7, -6e-8, 65504, 1e-40};
    for (size_t k = 0; k < count; ++k) {
      const double sign = random_() % 2 ? 1 : -1;
      double number = normal(random_);
      if (data == Data::NearOne)
        number = is_floating(element) ? sign * (1 + 0.01 * normal(random_)) : sign;
      else if (is_floating(element) && data == Data::Anything && random_() % 4 == 0)
        number = odd[random_() % std::size(odd)];
      else if (!is_floating(element))
        number = std::round(number * (data == Data::Small ? 1 : 8));
      buffer.set(k, element == Element::UInt8 ? std::fabs(number) + 100 : number);
    }
    return buffer;
  }

  std::mt19937 random_;
};

/// Every element type and fold in each round, or a third of them where not everything is asked for: each kernel is
/// compiled, some by two compilers.
inline std::vector<TestKernel> random_kernels(unsigned seed, int rounds) {
  RandomKernels random(seed);
  std::vector<TestKernel> kernels;
  for (int round = 0; round < rounds; ++round)
    for (const Element element : all_elements) {
      kernels.push_back(random.pointwise(element));
      for (const Fold fold : {Fold::Sum, Fold::Product, Fold::Largest, Fold::Smallest, Fold::Any, Fold::All})
        for (const bool long_rows : {false, true})
          kernels.push_back(random.reduction(element, fold, long_rows));
    }
  if (everything_is_asked_for())
    return kernels;
  std::vector<TestKernel> some;
  for (size_t k = 0; k < kernels.size(); k += 3)
    some.push_back(std::move(kernels[k]));
  return some;
}

} // namespace repro_minify
