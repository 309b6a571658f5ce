// Small models of the kinds that people have (fixtures/small_models), as tests/bench/research/real has real ones: none
// is refused, and none fails but where PyTorch itself is wrong.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct SmallModel {
  std::string name;
  std::vector<std::string> backends, fails;
};

std::vector<SmallModel> small_models() {
  std::vector<SmallModel> models;
  for (const json &row : json::parse(read_text(fixtures() / "small_models/expected.json")))
    models.push_back({row.at("model"), row.at("backends"), row.at("fails")});
  return models;
}

class SmallModels : public testing::TestWithParam<SmallModel> {};

TEST_P(SmallModels, IsTakenAndJudged) {
  const auto &[name, backends, fails] = GetParam();
  for (const auto &backend : backends) {
    if (backend == "inductor" && !everything_is_asked_for()) // it compiles for a minute
      continue;
    const Finished finished =
        run_tool({"run", fixtures() / "small_models" / name / "model.pt", "--backend", backend, "--json"});
    const bool expected = std::find(fails.begin(), fails.end(), backend) != fails.end();
    EXPECT_EQ(finished.exit_code, expected ? 1 : 0) << backend << ": " << describe(finished);
  }
}

INSTANTIATE_TEST_SUITE_P(, SmallModels, testing::ValuesIn(small_models()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace repro_minify::end_to_end
