// Messages of any length and any bytes: what models raise is theirs to choose.
#include "all_tests.h"
#include "core/text.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(WithoutParticulars, ReplacesWhatDiffersFromRunToRun) {
  const std::pair<const char *, const char *> table[] = {
      {"size of a (3) must match b (17) at 0x7ffe12", "size of a (#) must match b (#) at @"},
      {"shape [2, 3,4] and [5]", "shape [#] and [#]"},
      {"bad scale 1.5e-3, -2", "bad scale #"},
      {"index -1 is a-1 3-4 .5 1.", "index # is a-# #-# .5 #."},
      {"cannot open ../lib/b.so: no", "cannot open PATH: no"},
      {"at \"/opt/b/x.h\":99, see (./a)", "at \"PATH\":#, see (PATH)"},
      {"a / b, .../x, x/y", "a / b, .../x, x/y"},
      {"no value %x.12 in %y or %", "no value % in % or %"},
      {"parameter (mul_1) of operator (Neg) in node (node_neg)", "parameter () of operator (Neg) in node ()"},
      {"for Add(14) node with name 'node_add_2'", "for Add(#) node with name ''"},
      {"running Expand node. Name:'n0' Status", "running Expand node. Name:'' Status"},
      {"int64 and 2D, BFloat16, 3x4", "int64 and 2D, BFloat16, 3x4"},
      {"op_type: 24, kind 7, code:8", "op_type N24, kind N7, code:#"},
      {"two \t\r\n blanks ", "two blanks "},
      {"0x", "0x"},
      {"type:", "type:"},
      {"type: ", "type: "},
      {"1e5 1e+ 1e", "# 1e+ 1e"},
      {"", ""},
  };
  for (const auto &[message, expected] : table)
    EXPECT_EQ(without_particulars(message), expected) << message;
}

/// std::regex recurses once for each character: any of these ended the process.
TEST(WithoutParticulars, TakesTenMegabytesOfAnything) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  constexpr size_t ten_megabytes = 10u << 20;
  for (const std::string unit : {"1", " ", "/a", "%x", "1, ", "0x1", "xy"}) {
    std::string message;
    while (message.size() < ten_megabytes)
      message += unit;
    EXPECT_LE(without_particulars(message).size(), 300u) << unit;
  }
}

} // namespace
} // namespace repro_minify
