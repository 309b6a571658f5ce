// Results say that they are on a CUDA device, where there is none (on_cuda.h); how often it is opened.
#include "all_tests.h"
#include "cases.h"
#include "on_cuda.h"

#include <gtest/gtest.h>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

TEST(OnCuda, AResultSaysWhereItIs) {
  const Finished finished =
      run_on_cuda({"run", case_named("freeze_linear_bn_3d").model(), "--backend", "freeze", "--json"});
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  const auto form = nlohmann::json::parse(finished.out).at("details").at("outputs").at(0).at("ref_form");
  EXPECT_EQ(form.at("device"), "cuda:0") << form;
  EXPECT_EQ(form.at("sizes").size(), 3U) << form;
}

/// A library that the environment names is read wherever it lies.
TEST(OnCuda, KernelsAreCompiledByTheNvrtcThatIsNamed) {
  const TemporaryFolder folder;
  const Finished finished = run_on_cuda(
      {"run", case_named("freeze_linear_bn_3d").model(), "--backend", "inductor-like", "--json", "--no-autocast"},
      with_nvrtc(folder.path()));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const auto coverage = nlohmann::json::parse(finished.out).at("details").at("coverage");
  EXPECT_GT(coverage.at("compiled"), 0) << coverage;
}

TEST(OnCuda, AModelThatKernelsGetWrongIsReduced) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR(); // each candidate has kernels to compile
  const TemporaryFolder folder;
  const ReducedOnCuda reduced = reduced_on_cuda(
      {case_named("pass_fuse_add_relu_nan").model(), "--backend", "inductor-like", "--inject", "relu-accuracy"}, "",
      with_nvrtc(folder.path()));
  ASSERT_EQ(reduced.finished.exit_code, 0) << describe(reduced.finished);
  EXPECT_EQ(reduced.report.at("after").at("operators"), 1) << reduced.report.at("program");
}

/// One for the model itself, one for all that is asked of its steps.
TEST(OnCuda, ABisectionMakesTwoContexts) {
  const TemporaryFolder folder;
  const std::string contexts = folder / "contexts";
  const Finished finished =
      run_on_cuda({"bisect", case_named("freeze_linear_bn_3d").model(), "--backend", "freeze", "--json", "--quiet"},
                  {"PRETENDED_CUDA_CONTEXTS=" + contexts});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const auto found = nlohmann::json::parse(finished.out);
  EXPECT_EQ(found.at("guilty"), "FoldFrozenLinearBatchnorm") << found;
  EXPECT_GT(found.at("checks").size(), 5U) << found;
  EXPECT_EQ(fs::file_size(contexts), 2U);
}

/// The device draws from a generator of its own, which is seeded for both sides.
TEST(OnCuda, DropoutIsTheSameOnBothSides) {
  const Finished finished = run_on_cuda({"run", fixtures() / "random/dropout_train/model.pt", "--inputs",
                                         fixtures() / "random/dropout_train/inputs.pt", "--backend", "jit", "--train"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
}

/// They would wait for one another, and each takes memory of the device.
TEST(OnCuda, ChecksAreMadeOneAfterTheOther) {
  const Finished finished = run_tool({"--print-config", "--device", "cuda", "--backend", "freeze"});
  EXPECT_TRUE(contains(finished.out, "jobs = 1\n")) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
