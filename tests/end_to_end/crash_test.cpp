// Models whose process a backend ends (fixtures/crashes): that is found, and what is handed back crashes in the same
// way, as a program and as C++.
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Crashes : public testing::TestWithParam<Case> {};

TEST_P(Crashes, RunSaysHow) {
  const Case &one = GetParam();
  const Finished finished = run_tool(one.with_backend({"run", one.model(), "--json"}));
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  const json said = json::parse(finished.out);
  EXPECT_EQ(said.at("verdict").at("kind"), one.kind) << finished.out;
  const auto detail = said.at("details").at("signatures").at(0).at("detail").get<std::string>();
  EXPECT_EQ(detail.rfind("signal ", 0), 0) << detail;
  EXPECT_NE(detail.find(" in "), std::string::npos) << detail;
}

TEST_P(Crashes, ReductionVerifies) {
  const Case &one = GetParam();
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  if (one.backend != "freeze")
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", repro, "--quiet", verify}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report.at("verdict").at("kind"), one.kind);
  EXPECT_EQ(report.at("verified"), true);

  const std::set<std::string> operators = operators_of(repro);
  for (const std::string &name : one.must_have)
    EXPECT_TRUE(operators.count(name)) << "the crash needs " << name << "\n" << read_text(repro / "report.md");
}

INSTANTIATE_TEST_SUITE_P(Models, Crashes, testing::ValuesIn(all_cases("crashes")), name_of);

} // namespace
} // namespace repro_minify::end_to_end
