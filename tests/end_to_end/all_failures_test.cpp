// --all: each failure of a model once, in a folder of its own, until what is left passes.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <set>
#include <sstream>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string planted =
    std::string("command:") + test_paths::python + " " + test_paths::planted_faults + " --serve";

json report_of(const fs::path &series, const json &failure) {
  return json::parse(read_text(series / failure.at("folder").get<std::string>() / "report.json"));
}

class PlantedFaults : public testing::TestWithParam<int> {};

TEST_P(PlantedFaults, AreFoundEachOnce) {
  if (GetParam() > 3)
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const std::string count = std::to_string(GetParam());
  const Finished made =
      run_program({test_paths::python, "-B", test_paths::planted_faults, "make", count, count, folder.path()});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  const fs::path series = folder / "series";
  const Finished finished =
      run_tool({folder / "failing.pt", "--backend", planted, "--all", "--no-bisect", "-o", series});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);

  const json all = json::parse(read_text(series / "failures.json"));
  EXPECT_EQ(all.at("passes"), true) << all;
  std::multiset<std::string> wanted, found;
  std::istringstream words(made.out);
  for (std::string word; words >> word;)
    wanted.insert("aten::" + word);
  for (const json &failure : all.at("failures")) {
    const json operators = report_of(series, failure).at("program").at("operators");
    EXPECT_EQ(operators.size(), 1U) << operators;
    found.insert(operators.at(0));
  }
  EXPECT_EQ(found, wanted);
}
INSTANTIATE_TEST_SUITE_P(Models, PlantedFaults, testing::Values(3, 5));

TEST(AllFailures, OfABackendOfLibTorchAreFoundAndWhatIsLeftPasses) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path series = folder / "series";
  const fs::path model = fs::path(test_paths::fixtures) / "two_failures" / "pass_view_then_diagonal" / "failing.pt";
  const std::string backend = "pass:remove-inplace-ops";
  const Finished finished = run_tool({model, "--backend", backend, "--all", "-o", series});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);

  const json failures = json::parse(read_text(series / "failures.json")).at("failures");
  ASSERT_EQ(failures.size(), 2U) << failures;
  const auto has = [&](int index, const char *name) {
    const json operators = report_of(series, failures.at(index)).at("program").at("operators");
    return std::find(operators.begin(), operators.end(), name) != operators.end();
  };
  EXPECT_TRUE(has(0, "aten::add_") && !has(0, "aten::diagonal"));
  EXPECT_TRUE(has(1, "aten::mul_") && has(1, "aten::diagonal"));
  EXPECT_EQ(run_tool({"run", series / "rest_2.pt", "--backend", backend}).exit_code, 0);
  for (const char *link : {"1/report.html", "2/report.html"})
    EXPECT_TRUE(contains(read_text(series / "index.html"), link));

  // Each folder says how to make it again, and so does the series.
  const fs::path again = folder / "again";
  const Finished second = run_tool({"--config", series / "2" / "config.toml", "-o", again});
  ASSERT_EQ(second.exit_code, 0) << describe(second);
  EXPECT_EQ(read_text(again / "reduced.pt"), read_text(series / "2" / "reduced.pt"));
  EXPECT_TRUE(contains(read_text(series / "config.toml"), "all = true"));
}

TEST(AllFailures, OfAModelThatPassesAreNone) {
  const TemporaryFolder folder;
  const Finished finished =
      run_tool({case_named("freeze_linear_bn_3d").model(), "--backend", "eager", "--all", "-o", folder / "series"});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_FALSE(fs::exists(folder / "series"));
}

} // namespace
} // namespace repro_minify::end_to_end
