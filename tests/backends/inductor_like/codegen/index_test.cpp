#include "backends/inductor_like/kernel_index.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <random>

namespace repro_minify {
namespace {

/// Computes the C++ of an index: sums, products, quotients and remainders of numbers and variables.
class Evaluator {
public:
  Evaluator(std::string text, std::map<std::string, int64_t> variables)
      : text_(std::move(text)), variables_(std::move(variables)) {}
  int64_t value() { return sum(); }

private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool take(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c ? (++at_, true) : false;
  }
  int64_t sum() {
    int64_t result = product();
    while (take('+'))
      result += product();
    return result;
  }
  int64_t product() {
    int64_t result = atom();
    for (;;)
      if (take('*'))
        result *= atom();
      else if (take('/'))
        result /= atom();
      else if (take('%'))
        result %= atom();
      else
        return result;
  }
  int64_t atom() {
    if (take('(')) {
      const int64_t result = sum();
      EXPECT_TRUE(take(')')) << text_;
      return result;
    }
    skip();
    std::string word;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)
      word += text_[at_++];
    return std::isdigit(static_cast<unsigned char>(word.at(0))) != 0 ? std::stoll(word) : variables_.at(word);
  }

  std::string text_;
  std::map<std::string, int64_t> variables_;
  size_t at_ = 0;
};

std::vector<int64_t> random_factors(int64_t number, std::mt19937 &random) {
  std::vector<int64_t> sizes;
  while (number > 1) {
    std::vector<int64_t> divisors;
    for (int64_t d = 2; d <= number; ++d)
      if (number % d == 0)
        divisors.push_back(d);
    sizes.push_back(divisors[random() % divisors.size()]);
    number /= sizes.back();
    if (random() % 4 == 0)
      sizes.push_back(1);
  }
  return sizes;
}

TEST(Index, AReshapeThereAndBackIsTheSamePlace) {
  std::mt19937 random(0);
  for (int round = 0; round < 2000; ++round) {
    const int64_t count = std::vector<int64_t>{1, 6, 12, 24, 60, 64}[random() % 6];
    const auto from = random_factors(count, random), to = random_factors(count, random);
    std::vector<Index> indices;
    std::map<std::string, int64_t> values;
    for (size_t d = 0; d < from.size(); ++d) {
      indices.push_back(Index::variable("i" + std::to_string(d), from[d]));
      values["i" + std::to_string(d)] = static_cast<int64_t>(random() % static_cast<uint64_t>(from[d]));
    }
    const Index flat = flat_index(indices, contiguous_strides(from));
    const auto there = unflatten(flat, to);
    const Index back = flat_index(there, contiguous_strides(to));
    EXPECT_EQ(Evaluator(back.text(), values).value(), Evaluator(flat.text(), values).value()) << flat.text();
    for (size_t d = 0; d < to.size(); ++d) {
      EXPECT_LT(Evaluator(there[d].text(), values).value(), to[d]);
      EXPECT_LE(Evaluator(there[d].text(), values).value(), there[d].largest());
    }
  }
}

TEST(Index, SplittingAndMergingDimensionsLeavesNoDivision) {
  // [4, 6] as [4, 2, 3] and back.
  const Index i = Index::variable("i", 4), j = Index::variable("j", 2), k = Index::variable("k", 3);
  const auto split = unflatten(flat_index({i, j, k}, {6, 3, 1}), {4, 6});
  EXPECT_EQ(split[0].text(), "i");
  EXPECT_EQ(split[1].text(), "3 * j + k");
}

TEST(Index, AVariableIsFoundInsideADivisionAndNotInALongerName) {
  const Index place = Index::variable("i12", 10).divided_by(3);
  EXPECT_TRUE(place.is_divided("i12"));
  EXPECT_FALSE(place.is_divided("i1"));
  EXPECT_EQ((Index::variable("i12", 10) * 4).coefficient("i12"), 4);
}

} // namespace
} // namespace repro_minify
