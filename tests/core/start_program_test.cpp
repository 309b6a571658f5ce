#include "core/programs.h"

#include "core/files.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

int ends_with(const ProgramStart &start) {
  return exit_code_of(wait_for_program(start_program(start)));
}

TEST(StartProgram, BeginsWhereAndPrintsWhereItIsTold) {
  const TemporaryFolder folder;
  EXPECT_EQ(ends_with({.words = {"sh", "-c", "pwd; echo \"$WORD\" >&2"},
                       .folder = folder.path(),
                       .output = folder / "printed",
                       .before = [] { setenv("WORD", "given", 1); }}),
            0);
  EXPECT_EQ(read_file(folder / "printed"), std::filesystem::canonical(folder.path()).string() + "\ngiven\n");
}

TEST(StartProgram, SaysHowItEnded) {
  const TemporaryFolder folder;
  EXPECT_EQ(ends_with({.words = {"sh", "-c", "exit 3"}}), 3);
  EXPECT_EQ(ends_with({.words = {"sh", "-c", "kill -TERM $$"}}), 128 + SIGTERM);
  EXPECT_EQ(ends_with({.words = {"no-such-program-at-all"}, .output = folder / "printed"}), 127);
  EXPECT_NE(read_file(folder / "printed").find("no-such-program-at-all: cannot be started"), std::string::npos);
  EXPECT_EQ(exit_code_of(wait_for_program(-1)), 127);
}

TEST(StartProgram, TellsWhetherItRuns) {
  pid_t child = start_program({.words = {"sleep", "600"}, .own_group = true});
  ASSERT_GT(child, 0);
  EXPECT_TRUE(runs_after(child, 20ms));
  while (is_running(child) && kill(-child, SIGKILL) != 0) // until it has its group
    std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs_after(child, 60s));
  EXPECT_EQ(child, -1);
  EXPECT_FALSE(is_running(child));
}

} // namespace
} // namespace repro_minify
