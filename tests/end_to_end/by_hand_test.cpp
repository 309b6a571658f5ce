// Tests the steps of a person with a repro: build it with CMake and a LibTorch, run it, read the exit code.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

/// Writes the file again, with one part of its text replaced.
void replace_in(const fs::path &file, const std::string &part, const std::string &by) {
  std::string text = read_text(file);
  const size_t at = text.find(part);
  ASSERT_NE(at, std::string::npos) << part << "\n" << text;
  std::ofstream(file) << text.replace(at, part.size(), by);
}

/// Then it passes once freeze is taken out of it, and cannot be tried where eager itself raises.
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
  const auto ran = [&] {
    const Finished built = run_program({"cmake", "--build", build});
    EXPECT_EQ(built.exit_code, 0) << describe(built);
    return run_program({build / "repro"});
  };
  const Finished fails = ran();
  EXPECT_EQ(fails.exit_code, 1) << describe(fails);
  EXPECT_TRUE(contains(fails.out, "\nREPRODUCED ")) << describe(fails);

  replace_in(repro / "repro.cpp", "torch::jit::freeze(module)", "module");
  const Finished passes = ran();
  EXPECT_EQ(passes.exit_code, 0) << describe(passes);
  EXPECT_TRUE(contains(passes.out, "PASS: the failure no longer reproduces")) << describe(passes);

  replace_in(repro / "repro.cpp", "make_module().forward(make_inputs())", "make_module().forward({})");
  const Finished cannot_be_tried = ran();
  EXPECT_EQ(cannot_be_tried.exit_code, 2) << describe(cannot_be_tried);
  EXPECT_FALSE(contains(cannot_be_tried.out, "REPRODUCED")) << describe(cannot_be_tried);
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
