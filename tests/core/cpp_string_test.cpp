#include "core/escape.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(CppString, KeepsPlainText) {
  EXPECT_EQ(cpp_string("/opt/lib/my plugin.so"), R"("/opt/lib/my plugin.so")");
}

TEST(CppString, NothingEndsTheLiteral) {
  EXPECT_EQ(cpp_string("a\"); system(\"b\\"), R"("a\"); system(\"b\\")");
  EXPECT_EQ(cpp_string("a\nb\r"), R"("a\012b\015")");
  EXPECT_EQ(cpp_string("?\?="), "\"\\?\\?=\"");
}

/// A hexadecimal escape would swallow the digit after it.
TEST(CppString, EscapesEndWhereTheyShould) {
  EXPECT_EQ(cpp_string("\x01"
                       "1"),
            R"("\0011")");
  EXPECT_EQ(cpp_string("\xc3\xa9"), R"("\303\251")");
}

} // namespace
} // namespace repro_minify
