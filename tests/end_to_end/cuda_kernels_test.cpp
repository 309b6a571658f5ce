// Kernels that inductor-like generates for a CUDA device, where there is none, run on the processor with eager's
// numbers.
#include "all_tests.h"
#include "cases.h"
#include "on_cuda.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
using ModelUnder = std::pair<std::string, std::string>; ///< of fixtures/small_models, and an autocast dtype or "none"

/// Most of each has kernels. (PyTorch's tracer, or the rules of what is fused, leave nothing to compile of some
/// others.)
const std::set<ModelUnder> on_every_commit = {
    {"vision_transformer", "float16"}, {"conv_net", "none"}, {"transformer", "bfloat16"}};

std::vector<ModelUnder> models() {
  std::vector<ModelUnder> asked;
  for (const json &row : json::parse(read_text(fixtures() / "small_models/expected.json")))
    for (const char *autocast : {"float16", "bfloat16", "none"})
      if (const ModelUnder one(row.at("model"), autocast); everything_is_asked_for() || on_every_commit.count(one) > 0)
        asked.push_back(one);
  return asked;
}

class KernelsOnCuda : public testing::TestWithParam<ModelUnder> {};

TEST_P(KernelsOnCuda, ComputeWhatEagerDoes) {
  const auto &[name, autocast] = GetParam();
  const TemporaryFolder folder;
  std::vector<std::string> words = {
      "run", fixtures() / "small_models" / name / "model.pt", "--backend", "inductor-like", "--json", "--no-timing"};
  if (autocast == "none")
    words.emplace_back("--no-autocast");
  else
    words.insert(words.end(), {"--autocast-dtype", autocast});
  const Finished finished = run_on_cuda(words, with_nvrtc(folder.path()));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  if (on_every_commit.count(GetParam()) > 0) {
    EXPECT_GT(json::parse(finished.out).at("details").at("coverage").at("compiled"), 0) << finished.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, KernelsOnCuda, testing::ValuesIn(models()),
                         [](const auto &info) { return info.param.first + "_" + info.param.second; });

} // namespace
} // namespace repro_minify::end_to_end
