// Reductions on a CUDA device, where there is none: LD_PRELOAD brings one whose memory and operators are the CPU's.
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

/// It ends, or is killed in the end.
Finished run_on_cuda(const std::vector<std::string> &arguments) {
  std::vector<std::string> words = {"env", std::string("LD_PRELOAD=") + test_paths::pretended_cuda,
                                    test_paths::program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--device", "cuda"});
  return run_program(words, std::chrono::seconds(300));
}

nlohmann::json reduced_on_cuda(const std::vector<std::string> &arguments) {
  const TemporaryFolder folder;
  std::vector<std::string> words = arguments;
  words.insert(words.end(), {"-o", folder / "x", "--no-verify", "--no-bisect", "--quiet"});
  const Finished finished = run_on_cuda(words);
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  return fs::exists(folder / "x" / "report.json") ? nlohmann::json::parse(read_text(folder / "x" / "report.json"))
                                                  : nlohmann::json();
}

TEST(OnCuda, AResultSaysWhereItIs) {
  const Finished finished =
      run_on_cuda({"run", case_named("freeze_linear_bn_3d").model(), "--backend", "freeze", "--json"});
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  const auto form = nlohmann::json::parse(finished.out).at("details").at("outputs").at(0).at("ref_form");
  EXPECT_EQ(form.at("device"), "cuda:0") << form;
  EXPECT_EQ(form.at("sizes").size(), 3U) << form;
}

TEST(OnCuda, AWrongResultIsReducedToTheEnd) {
  const auto report = reduced_on_cuda({case_named("freeze_linear_bn_3d").model(), "--backend", "freeze"});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report.at("device"), "cuda");
  EXPECT_FALSE(report.at("interrupted"));
  EXPECT_LE(report.at("after").at("operators"), 2) << report.at("after");
}

} // namespace
} // namespace repro_minify::end_to_end
