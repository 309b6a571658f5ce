// --require-confinement refuses to run a model where this machine cannot confine it; without it that is a warning.
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

namespace repro_minify::end_to_end {
namespace {

const std::string is_missing = "this kernel has no Landlock";

std::vector<std::string> run_jit(const std::vector<std::string> &more) {
  std::vector<std::string> words = {test_paths::program, "run", case_named("jit_type_as_dce").model(),
                                    "--backend",         "jit", "--no-timing"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

constexpr int no_filter = 124; // of plugins/without_landlock.c

Finished without_landlock(std::vector<std::string> words) {
  words.insert(words.begin(), test_paths::without_landlock);
  return run_program(words);
}

TEST(RequireConfinement, RefusesAModelWhereItCannotBeConfined) {
  const Finished refused = without_landlock(run_jit({"--require-confinement"}));
  if (refused.exit_code == no_filter)
    GTEST_SKIP() << "this machine filters no system calls";
  EXPECT_EQ(refused.exit_code, 2) << describe(refused);
  EXPECT_EQ(refused.out, "") << describe(refused);
  EXPECT_TRUE(contains(refused.err, "error: --require-confinement: " + is_missing)) << describe(refused);

  const Finished warned = without_landlock(run_jit({}));
  EXPECT_EQ(warned.exit_code, 1) << describe(warned);
  EXPECT_TRUE(contains(warned.err, is_missing)) << describe(warned);
  EXPECT_TRUE(contains(warned.err, "--require-confinement refuses")) << describe(warned);
}

TEST(RequireConfinement, LeavesNothingBehindWhereAReductionIsRefused) {
  const TemporaryFolder folder;
  const Finished refused = without_landlock({test_paths::program, case_named("jit_type_as_dce").model(), "--backend",
                                             "jit", "-o", folder / "x.repro", "--require-confinement"});
  if (refused.exit_code == no_filter)
    GTEST_SKIP() << "this machine filters no system calls";
  EXPECT_EQ(refused.exit_code, 2) << describe(refused);
  EXPECT_FALSE(std::filesystem::exists(folder / "x.repro"));
}

TEST(RequireConfinement, ChangesNothingWhereItCan) {
  if (contains(run_program(run_jit({})).err, "--require-confinement refuses"))
    GTEST_SKIP() << "this machine cannot confine what a model runs";
  const Finished finished = run_program(run_jit({"--require-confinement"}));
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
