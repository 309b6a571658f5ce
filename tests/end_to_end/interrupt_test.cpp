// Ctrl-C and SIGTERM in the middle of a reduction: the best program so far is kept, and it still fails.
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

long lines_in(const fs::path &file) {
  const std::string text = read_text(file);
  return std::count(text.begin(), text.end(), '\n');
}

class Interrupted : public testing::TestWithParam<int> {};

TEST_P(Interrupted, KeepsTheBestSoFar) {
  const Case one = case_named("big_jit_loop_swap"); // the longest search of all
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  RunningProgram program({REPRO_MINIFY_BINARY, one.model(), "--backend", "jit", "-o", repro, "--jobs", "1", "--quiet"});
  ASSERT_TRUE(program.wait_until([&] { return lines_in(repro / "journal.jsonl") >= 5; }, std::chrono::seconds(60)))
      << describe(program.wait(std::chrono::seconds(1)));
  program.send_signal(GetParam());
  const Finished finished = program.wait(std::chrono::seconds(30));
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
  ASSERT_TRUE(fs::exists(repro / "reduced.pt")) << describe(finished);

  const Finished again = run_tool({"run", repro / "reduced.pt", "--inputs", repro / "inputs.pt", "--backend", "jit"});
  EXPECT_EQ(again.exit_code, 1) << describe(again);
}

std::string signal_name(const testing::TestParamInfo<int> &info) {
  return info.param == SIGINT ? "SIGINT" : "SIGTERM";
}

INSTANTIATE_TEST_SUITE_P(By, Interrupted, testing::Values(SIGINT, SIGTERM), signal_name);

} // namespace
} // namespace repro_minify::end_to_end
