// Text from a model is hostile until escaped.
#include "core/escape.h"

#include <gtest/gtest.h>

#include <sstream>

namespace repro_minify {
namespace {

TEST(Escape, ACommentStaysOneLine) {
  EXPECT_EQ(comment_text("a\nint main() {}"), "a int main() {}");
  EXPECT_NE(comment_text("path\\").back(), '\\');
  for (const char *blank : {" ", "\n", "\t \n", "\r\n"})
    EXPECT_EQ(comment_text("path\\" + std::string(blank)), "path\\.");
  const std::string block = comment_block("first\\\nsecond\rthird", "//");
  EXPECT_EQ(block, "// first\\.\n// second third\n");
}

TEST(Escape, LongCommentsAreWrappedAndLoseNothing) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "word" + std::to_string(i) + " ";
  std::istringstream lines(comment_block(text, "//"));
  std::string words;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(line.size(), 120u) << line;
    std::istringstream parts(line);
    for (std::string part; parts >> part;)
      words += part == "//" ? "" : part + " ";
  }
  EXPECT_GT(count, 1);
  EXPECT_EQ(words, text);
  EXPECT_EQ(comment_block(std::string(500, 'x'), "//").find("\nx"), std::string::npos);
}

TEST(Escape, ARawStringCannotBeClosedByItsText) {
  const std::string text = "x)torchscript\" + system(\"id\")";
  const std::string literal = raw_string(text);
  const std::string delimiter = literal.substr(2, literal.find('(') - 2);
  EXPECT_EQ(text.find(")" + delimiter + "\""), std::string::npos);
  EXPECT_LE(delimiter.size(), 16u);
}

TEST(Escape, MarkdownShowsTextAsItIs) {
  EXPECT_EQ(markdown_text("a|b<img>*"), "a\\|b\\<img>\\*");
  EXPECT_EQ(markdown_text("> f(x)[0] + snake_case, _it_"), "\\> f(x)\\[0] + snake_case, \\_it\\_");
  EXPECT_EQ(markdown_code("x[`a`] < 2"), "`` x[`a`] < 2 ``");
  EXPECT_EQ(markdown_code("two\nlines"), "`two lines`");
  EXPECT_EQ(markdown_text("two\nlines"), "two lines");
  EXPECT_EQ(markdown_fence("```\nx", "cpp").substr(0, 7), "````cpp");
}

TEST(Escape, WhatWouldCommandATerminalIsShown) {
  EXPECT_EQ(visible_text("\x1b[2Jred\a\x7f"), "\\x1b[2Jred\\x07\\x7f");
  EXPECT_EQ(visible_text("one\ttab\nline"), "one\ttab\nline");
  EXPECT_EQ(visible_text("a\xc2\x9b"
                         "b"),
            "a\\x9bb");                                // a command in one character
  EXPECT_EQ(visible_text("a\x9b\xff"), "a\\x9b\\xff"); // no UTF-8
  EXPECT_EQ(visible_text("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(Escape, MarksThatTurnTheDirectionAreShown) {
  const std::string turned = "a\xe2\x80\xae"
                             "b";
  EXPECT_EQ(visible_text(turned), "a\\u202eb");
  EXPECT_EQ(comment_text(turned), "a\\u202eb");
  EXPECT_EQ(markdown_fence(turned, "").find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(raw_string(turned), "R\"torchscript(a)torchscript\" \"\\U0000202e\" R\"torchscript(b)torchscript\"");
}

TEST(Escape, HtmlIsText) {
  EXPECT_EQ(html_text("<b a=\"x\" c='y'>&amp;"), "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(html_text("a\xe2\x80\xae"
                      "b\x1b\xff"),
            "a\\u202eb\\x1b\\xff");
  EXPECT_EQ(html_text("two\nlines"), "two\nlines");
}

} // namespace
} // namespace repro_minify
