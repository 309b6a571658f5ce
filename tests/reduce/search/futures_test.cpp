// Which questions are expected, on something that counts to a number by asking for each of its bits.
#include "reduce/search_futures.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace repro_minify {
namespace {

struct Question {
  std::string key;
  double chance;
};
/// The answers so far, as "yn"; three make it whole.
using Bits = std::string;
using BitFutures = Futures<Bits, Question>;

/// Asks for the bit after `bits`, named by those before it.
DryRunEnd<Question> go_on(Bits &bits, const BitFutures::Assumed &assumed, double chance = 0.75) {
  while (bits.size() < 3) {
    const auto answer = assumed.find("after " + bits);
    if (answer == assumed.end())
      return {Question{"after " + bits, chance}};
    bits += answer->second ? 'y' : 'n';
  }
  return {};
}

std::vector<std::string> questions(BitFutures &futures) {
  std::vector<std::string> keys;
  while (const auto foreseen =
             futures.next([](Bits &bits, const BitFutures::Assumed &assumed) { return go_on(bits, assumed); }))
    keys.push_back(foreseen->question.key);
  return keys;
}

TEST(Futures, AreGoneIntoFromTheLikeliestOn) {
  BitFutures futures("", 100);
  EXPECT_EQ(questions(futures),
            (std::vector<std::string>{"after ", "after y", "after yy", "after n", "after yn", "after ny", "after nn"}));
}

TEST(Futures, SayWhatTheyRestOn) {
  BitFutures futures("", 100);
  const auto next = [&] {
    return futures.next([](Bits &bits, const BitFutures::Assumed &assumed) { return go_on(bits, assumed, 0.2); });
  };
  EXPECT_TRUE(next()->assumed.empty());
  EXPECT_EQ(next()->assumed, (BitFutures::Assumed{{"after ", false}}));
  EXPECT_EQ(next()->assumed, (BitFutures::Assumed{{"after ", false}, {"after n", false}}));
  EXPECT_EQ(next()->assumed, (BitFutures::Assumed{{"after ", true}}));
}

TEST(Futures, EndWithTheTries) {
  BitFutures futures("", 2);
  EXPECT_EQ(questions(futures), (std::vector<std::string>{"after ", "after y"}));
  BitFutures whole("yyy", 5);
  EXPECT_TRUE(questions(whole).empty());
}

TEST(Futures, EndWhenOneIsStopped) {
  BitFutures futures("", 100);
  int gone_into = 0;
  const auto stop = [&](Bits &, const BitFutures::Assumed &) -> DryRunEnd<Question> {
    ++gone_into;
    return {.stopped = true};
  };
  EXPECT_FALSE(futures.next(stop));
  EXPECT_FALSE(futures.next(stop));
  EXPECT_EQ(gone_into, 1);
}

} // namespace
} // namespace repro_minify
