// "1-minimal" by brute force: Python writes and checks every single deletion of what the tests of the cases left
// behind.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// A line for each folder.
std::vector<json> examined(const std::vector<std::string> &folders) {
  std::vector<std::string> command = {test_paths::python, "-B", test_paths::every_deletion};
  command.insert(command.end(), folders.begin(), folders.end());
  const Finished finished = run_program(command);
  EXPECT_LE(finished.exit_code, 2) << describe(finished);
  std::vector<json> answers;
  std::istringstream lines(finished.out);
  for (std::string line; std::getline(lines, line);)
    answers.push_back(json::parse(line));
  EXPECT_EQ(answers.size(), folders.size()) << describe(finished);
  return answers;
}

/// The reductions of the cases are there when the tests run in their order: ctest sees to it.
TEST(EveryDeletion, OfTheReductionsPasses) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  std::vector<std::string> folders;
  for (const Case &one : all_cases())
    if (fs::exists(one.repro() / "report.json") && one.backend != "inductor")
      folders.push_back(one.repro());
  if (!everything_is_asked_for()) { // the brute force takes longer than the reductions
    for (size_t at = 0; at < folders.size(); ++at)
      folders.erase(folders.begin() + static_cast<std::ptrdiff_t>(at));
  }
  size_t tried = 0, deletions = 0;
  std::string untried;
  for (const json &answer : examined(folders)) {
    untried += answer.contains("untried") ? answer.dump() + "\n" : "";
    if (answer.contains("untried"))
      continue;
    ++tried;
    deletions += answer.at("deletions").get<size_t>();
    EXPECT_TRUE(answer.at("still_failing").empty()) << answer;
  }
  EXPECT_GE(tried, everything_is_asked_for() ? 30u : 10u) << untried;
  EXPECT_GE(deletions, 2 * tried);
}

/// The models as they were found hold operators that can go: the program that looks for them sees that.
TEST(EveryDeletion, SeesWhatCanGo) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  std::vector<std::string> folders;
  for (const char *name : {"static_int_div_exc", "nnc_round_half", "grad_pow_zero_base_nan", "autocast_lerp_exc"}) {
    const Case one = case_named(name);
    folders.push_back(folder / name);
    fs::create_directories(folders.back());
    fs::copy_file(one.model(), fs::path(folders.back()) / "reduced.pt");
    fs::copy_file(one.inputs(), fs::path(folders.back()) / "inputs.pt");
    const std::string where = one.kind == "exception" ? "" : one.grad ? "gradient" : "output";
    const json report = {{"backend", one.backend},
                         {"grad", one.grad},
                         {"seed", 0},
                         {"calls", 3},
                         {"autocast", one.backend == "autocast" ? json("bfloat16") : json(nullptr)},
                         {"verdict", {{"kind", one.kind}, {"where", where}}}};
    std::ofstream(fs::path(folders.back()) / "report.json") << report;
  }
  for (const json &answer : examined(folders)) {
    ASSERT_TRUE(answer.contains("still_failing")) << answer;
    EXPECT_FALSE(answer.at("still_failing").empty()) << answer;
  }
}

} // namespace
} // namespace repro_minify::end_to_end
