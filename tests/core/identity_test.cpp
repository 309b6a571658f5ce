// Tests of what makes two runs the same, and of how a person is told that they are not.
#include "core/files.h"
#include "repro_minify/identity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace repro_minify {
namespace {

Identity with(const std::string &name, const auto &value) {
  Identity identity;
  identity.add(name, value);
  return identity;
}

TEST(Identity, KeepsNumbersAtFullPrecision) {
  EXPECT_EQ(with("tolerance", 1e-3), with("tolerance", 1e-3));
  EXPECT_NE(with("tolerance", 1e-3), with("tolerance", std::nextafter(1e-3, 1.0)));
  EXPECT_NE(with("seed", ~0ull), with("seed", ~0ull - 1));
}

TEST(Identity, SaysWhatDiffersFieldByField) {
  EXPECT_EQ(difference(with("calls", 3), with("calls", 3)), "");
  EXPECT_EQ(difference(with("calls", 4), with("calls", 3)), "calls is 4, was 3");
  EXPECT_EQ(difference(with("--inject", "x"), with("--inject", "")), "--inject is x, was nothing");
  Identity more = with("calls", 3);
  more.add("gradients", true);
  EXPECT_EQ(difference(more, with("calls", 3)), "gradients is new");
  EXPECT_EQ(difference(with("calls", 3), more), "gradients is no more");
}

TEST(Identity, SaysThatAContentHasChangedWithoutItsDigest) {
  Identity now, before;
  now.add_content("the plugin", "0123");
  before.add_content("the plugin", "4567");
  EXPECT_EQ(difference(now, before), "the content of the plugin has changed");
}

TEST(Identity, AnUnreadableFileIsNeverThatOfAnotherProcess) {
  Identity here, there;
  here.add_content("input 1", "");
  there.add("input 1", "unknown:that of another process");
  EXPECT_EQ(difference(here, there), "the content of input 1 cannot be compared");
  EXPECT_NE(here, there);
}

TEST(Identity, SeesThatAFileHasChangedUnderItsName) {
  const TemporaryFolder folder;
  const std::string path = folder / "oracle.sh";
  const auto identity = [&] {
    Identity of_now;
    of_now.add_file("the oracle", path);
    return of_now;
  };
  std::ofstream(path) << "exit 0";
  const Identity before = identity();
  EXPECT_EQ(identity(), before);
  std::ofstream(path) << "exit 1";
  EXPECT_EQ(difference(identity(), before), "the content of the oracle has changed");
}

TEST(Identity, NamesSixDifferencesAndCountsTheRest) {
  Identity now, before;
  for (int i = 0; i < 9; ++i) {
    now.add("field " + std::to_string(i), 1);
    before.add("field " + std::to_string(i), 2);
  }
  const std::string text = difference(now, before);
  EXPECT_NE(text.find("field 5 is 1, was 2; and 3 more"), std::string::npos) << text;
}

TEST(Identity, DoesNotPourAHostileNameIntoAMessage) {
  EXPECT_LT(difference(with("the backend", std::string(100000, 'x')), with("the backend", "y")).size(), 300u);
}

} // namespace
} // namespace repro_minify
