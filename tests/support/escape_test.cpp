// Text from a model is hostile until escaped.
#include "support/escape.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(Escape, ACommentStaysOneLine) {
  EXPECT_EQ(comment_text("a\nint main() {}"), "a int main() {}");
  EXPECT_NE(comment_text("path\\").back(), '\\');
  const std::string block = comment_block("first\\\nsecond\rthird");
  EXPECT_EQ(block, "// first\\.\n// second third\n");
}

TEST(Escape, LongCommentsAreWrappedAndLoseNothing) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "word" + std::to_string(i) + " ";
  const std::string block = comment_block(text);
  for (int i = 0; i < 100; ++i)
    EXPECT_NE(block.find("word" + std::to_string(i)), std::string::npos);
  EXPECT_EQ(comment_block(std::string(500, 'x')).find("\nx"), std::string::npos);
}

TEST(Escape, ARawStringCannotBeClosedByItsText) {
  const std::string text = "x)torchscript\" + system(\"id\")";
  const std::string literal = raw_string(text);
  const std::string delimiter = literal.substr(2, literal.find('(') - 2);
  EXPECT_EQ(text.find(")" + delimiter + "\""), std::string::npos);
  EXPECT_LE(delimiter.size(), 16u);
}

TEST(Escape, MarkdownShowsTextAsItIs) {
  EXPECT_EQ(markdown_text("a|b<img>*"), "a\\|b\\<img\\>\\*");
  EXPECT_EQ(markdown_text("two\nlines"), "two lines");
  EXPECT_EQ(markdown_fence("```\nx", "cpp").substr(0, 7), "````cpp");
}

TEST(Escape, AShellWordIsOneWord) {
  EXPECT_EQ(shell_word("plain/path.pt"), "plain/path.pt");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $(id)"), "'it'\\''s $(id)'");
  EXPECT_EQ(shell_word(""), "''");
}

} // namespace
} // namespace repro_minify
