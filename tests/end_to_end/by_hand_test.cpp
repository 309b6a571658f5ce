// Tests the steps of a person with a repro: build it with CMake and a LibTorch, run it, read the exit code.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

TEST(ByHand, TheReproBuildsAndFails) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro", build = folder / "build";
  const Finished reduced = run_tool({one.model(), "--backend", "freeze", "-o", repro, "--no-verify", "--quiet"});
  ASSERT_EQ(reduced.exit_code, 0) << describe(reduced);

  const Finished configured = run_program({"cmake", "-S", repro, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                                           std::string("-DTorch_DIR=") + test_paths::torch_dir});
  ASSERT_EQ(configured.exit_code, 0) << describe(configured);
  const Finished built = run_program({"cmake", "--build", build});
  ASSERT_EQ(built.exit_code, 0) << describe(built);
  const Finished ran = run_program({build / "repro"});
  EXPECT_EQ(ran.exit_code, 1) << describe(ran);
}

TEST(ByHand, AReproThatCannotBeBuiltIsNotCalledVerified) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("static_int_div_exc");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished reduced = run_program(
      {"env", "PATH=/nonexistent", test_paths::program, one.model(), "--backend", "static-runtime", "-o", repro});
  EXPECT_EQ(reduced.exit_code, 4) << describe(reduced);
  EXPECT_NE(reduced.err.find("DID NOT VERIFY"), std::string::npos) << describe(reduced);
  EXPECT_TRUE(fs::exists(repro / "reduced.pt"));
}

} // namespace
} // namespace repro_minify::end_to_end
