// Reductions on a CUDA device, where there is none: LD_PRELOAD brings one whose memory and operators are the CPU's.
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

/// It ends, or is killed in the end. `settings`: of the environment.
Finished run_on_cuda(const std::vector<std::string> &arguments, const std::vector<std::string> &settings = {}) {
  std::vector<std::string> words = {"env", std::string("LD_PRELOAD=") + test_paths::pretended_cuda};
  words.insert(words.end(), settings.begin(), settings.end());
  words.push_back(test_paths::program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--device", "cuda"});
  return run_program(words, std::chrono::seconds(300));
}

struct ReducedOnCuda {
  nlohmann::json report;       ///< null where there is none
  std::uintmax_t contexts = 0; ///< processes that used the device
};

/// `asked`: for $PRETENDED_CUDA.
ReducedOnCuda reduced_on_cuda(const std::vector<std::string> &arguments, const std::string &asked = "") {
  const TemporaryFolder folder;
  std::vector<std::string> words = arguments;
  words.insert(words.end(), {"-o", folder / "x", "--no-verify", "--no-bisect", "--quiet"});
  const fs::path contexts = folder / "contexts";
  const Finished finished =
      run_on_cuda(words, {"PRETENDED_CUDA_CONTEXTS=" + contexts.string(), "PRETENDED_CUDA=" + asked});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  const fs::path report = folder / "x" / "report.json";
  return {fs::exists(report) ? nlohmann::json::parse(read_text(report)) : nlohmann::json(), fs::file_size(contexts)};
}

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
  fs::copy(test_paths::fake_nvrtc, folder / "nvrtc.so");
  fs::copy(test_paths::fake_driver, folder / "libcuda.so.1");
  const Finished finished = run_on_cuda(
      {"run", case_named("freeze_linear_bn_3d").model(), "--backend", "inductor-like", "--json", "--no-autocast"},
      {"REPRO_MINIFY_NVRTC=" + (folder / "nvrtc.so").string(), "LD_LIBRARY_PATH=" + folder.path().string()});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const auto coverage = nlohmann::json::parse(finished.out).at("details").at("coverage");
  EXPECT_GT(coverage.at("compiled"), 0) << coverage;
}

struct CaseOnCuda {
  const char *name, *backend;
  int operators_at_most;
};

void PrintTo(const CaseOnCuda &one, std::ostream *out) {
  *out << one.name;
}

class CasesOnCuda : public testing::TestWithParam<CaseOnCuda> {};

/// Most checks are answered by one process, which makes one context.
TEST_P(CasesOnCuda, AreReducedToTheEnd) {
  const auto [report, contexts] =
      reduced_on_cuda({case_named(GetParam().name).model(), "--backend", GetParam().backend});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report.at("device"), "cuda");
  EXPECT_FALSE(report.at("interrupted"));
  EXPECT_LE(report.at("after").at("operators"), GetParam().operators_at_most) << report.at("after");
  EXPECT_LT(contexts, report.at("checks").get<unsigned>() / 2 + 12);
}

INSTANTIATE_TEST_SUITE_P(Of, CasesOnCuda,
                         testing::Values(CaseOnCuda{"freeze_linear_bn_3d", "freeze", 2},
                                         CaseOnCuda{"freeze_conv_bn_unbatched_exc", "freeze", 2},
                                         CaseOnCuda{"autocast_lerp_exc", "autocast", 2},
                                         CaseOnCuda{"static_int_div_exc", "static-runtime", 1}),
                         [](const auto &info) { return std::string(info.param.name); });

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

/// A process whose device has an error, or has not all of its memory back, is given up, and its last answer with it.
TEST(OnCuda, ASpoiltProcessChangesNoAnswer) {
  const std::vector<std::string> arguments = {case_named("freeze_linear_bn_3d").model(), "--backend", "freeze"};
  const auto [report, contexts] = reduced_on_cuda(arguments);
  ASSERT_TRUE(report.is_object());
  for (const char *fault : {"leak", "late-error"}) {
    const auto [faulty, more_contexts] = reduced_on_cuda(arguments, fault);
    ASSERT_TRUE(faulty.is_object()) << fault;
    EXPECT_EQ(faulty.at("program"), report.at("program")) << fault;
    EXPECT_EQ(faulty.at("checks"), report.at("checks")) << fault;
    EXPECT_GT(more_contexts, contexts) << fault;
  }
}

/// Memory that others hold says nothing of a candidate: it is asked again.
TEST(OnCuda, OthersThatFillTheDeviceChangeNoAnswer) {
  const std::vector<std::string> arguments = {case_named("freeze_linear_bn_3d").model(), "--backend", "freeze"};
  const auto [report, contexts] = reduced_on_cuda(arguments);
  const auto [crowded, more_contexts] = reduced_on_cuda(arguments, "crowded");
  ASSERT_TRUE(crowded.is_object());
  EXPECT_EQ(crowded.at("program"), report.at("program"));
  EXPECT_EQ(crowded.at("checks"), report.at("checks"));
}

} // namespace
} // namespace repro_minify::end_to_end
