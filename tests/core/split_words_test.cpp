#include "core/text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace repro_minify {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, SplitsAtBlanks) {
  EXPECT_EQ(split_words("  python3 run.py\t--fast\n"), (Words{"python3", "run.py", "--fast"}));
  EXPECT_EQ(split_words(" "), Words{});
}

TEST(SplitWords, QuotesAreAsInAShell) {
  EXPECT_EQ(split_words(R"(sh -c 'cp "$2" "$3"' sh)"), (Words{"sh", "-c", R"(cp "$2" "$3")", "sh"}));
  EXPECT_EQ(split_words(R"("a \"b\" \\ \n" c\ d '' e'f'"g")"), (Words{R"(a "b" \ \n)", "c d", "", "efg"}));
}

TEST(SplitWords, NothingElseHasAMeaning) {
  EXPECT_EQ(split_words("$HOME *.pt >x | y; z"), (Words{"$HOME", "*.pt", ">x", "|", "y;", "z"}));
}

TEST(SplitWords, RefusesWhatDoesNotEnd) {
  EXPECT_THROW(split_words("echo 'a"), std::invalid_argument);
  EXPECT_THROW(split_words("echo \"a\\\""), std::invalid_argument);
  EXPECT_THROW(split_words("echo \\"), std::invalid_argument);
}

} // namespace
} // namespace repro_minify
