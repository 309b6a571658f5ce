// Checks the reductions that the tests of the cases left behind, by a program that shares no code with the tool.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;

void expect_checker_agrees(const std::vector<Case> &cases) {
  std::vector<std::string> command = {test_paths::python, "-B", test_paths::judge,
                                      fixtures() / "cases" / "_lib" / "check.py"};
  for (const Case &one : cases)
    command.insert(command.end(), {one.repro(), one.checker_backend()});
  const Finished judged = run_program(command);
  ASSERT_EQ(judged.exit_code, 0) << describe(judged);
  std::istringstream lines(judged.out);
  for (const Case &one : cases) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << one.name << describe(judged);
    const json answer = json::parse(line);
    EXPECT_EQ(answer.at("case"), one.name);
    EXPECT_EQ(answer.at("fails"), true) << "check.py does not see the reduced model fail: " << describe(judged);
    EXPECT_LE(answer.value("ops", one.operators_at_most + 1), one.operators_at_most) << line;
  }
}

/// The reductions of the cases are there when the tests run in their order: ctest sees to it.
TEST(EveryReduction, FailsInPythonWithTheOperatorsOfItsRow) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  std::vector<Case> cases;
  for (const Case &one : all_cases())
    if (!one.reads_unwritten_memory && (!one.takes_long() || everything_is_asked_for()))
      cases.push_back(one);
  expect_checker_agrees(cases);
}

/// The tool sees to that memory by itself, the checker does not.
TEST(EveryReduction, FailsInPythonOverSteadyMemory) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  for (const Case &one : all_cases())
    if (one.reads_unwritten_memory) {
      const SteadyMemory steady(one);
      expect_checker_agrees({one});
    }
}

} // namespace
} // namespace repro_minify::end_to_end
