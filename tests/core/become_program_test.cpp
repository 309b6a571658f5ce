#include "core/programs.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(BecomeProgram, PassesItsWordsOn) {
  EXPECT_EXIT(become_program({"sh", "-c", "echo \"$1\" >&2; exit 3", "sh", "a  b"}), testing::ExitedWithCode(3),
              "^a  b\n$");
}

TEST(BecomeProgram, SaysWhatCannotBeStarted) {
  EXPECT_EXIT(become_program({"no-such-program-here"}), testing::ExitedWithCode(127),
              "^no-such-program-here: cannot be started: No such file or directory\n$");
  EXPECT_EXIT(become_program({"/"}), testing::ExitedWithCode(127), "^/: cannot be started: Permission denied\n$");
}

} // namespace
} // namespace repro_minify
