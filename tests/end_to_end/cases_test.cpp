// Every real failure in fixtures/cases: found by `run`, and brought down to the operators that its row allows.
// The repros stay in test_paths::test_repros, where scripts/case_table.py --reports makes a table of them.
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

std::vector<Case> cases_where(bool (*condition)(const Case &)) {
  std::vector<Case> chosen;
  for (const Case &one : all_cases())
    if (condition(one))
      chosen.push_back(one);
  return chosen;
}

void expect_files(const fs::path &repro) {
  for (const char *file : {"reduced.pt", "inputs.pt", "repro.cpp", "CMakeLists.txt", "report.md", "issue.md",
                           "report.json", "journal.jsonl"}) {
    std::error_code error;
    EXPECT_GT(fs::file_size(repro / file, error), 0u) << file;
    EXPECT_FALSE(error) << file << ": " << error.message();
  }
}

/// PyTorch's rules for reports; that the script inside fails as reported is what verification has seen.
void expect_issue_survives_triage(const fs::path &repro) {
  const fs::path rules = fixtures().parent_path() / "tests" / "repro" / "issue_md_rules.py";
  const Finished judged = run_program({"python3", rules, repro / "issue.md"});
  EXPECT_EQ(judged.exit_code, 0) << describe(judged) << read_text(repro / "issue.md");
}

/// How many checks the search asked until it had a program of ten operators or fewer.
int checks_until_small(const fs::path &repro) {
  std::istringstream journal(read_text(repro / "journal.jsonl"));
  int checks = 0;
  for (std::string line; std::getline(journal, line);) {
    const json entry = json::parse(line);
    if (!entry.contains("pass") || entry.at("pass") == "original" || entry.at("pass") == "flatten")
      continue;
    ++checks;
    if (entry.at("same_failure") == true && entry.at("operators").get<int>() <= 10)
      break;
  }
  return checks;
}

/// A build and two runs of a repro take twelve seconds of a processor: the first case of each backend has them, and
/// every case where everything is asked for. TorchInductor's minimum of bytes depends on what memory holds: a search
/// that never asks repro.py may end with a program that fails in its own checks alone.
bool is_verified(const Case &asked) {
  if (everything_is_asked_for() || asked.backend == "inductor")
    return true;
  std::set<std::string> backends;
  for (const Case &one : all_cases()) {
    if (one.takes_long())
      continue;
    const std::string backend = one.backend.substr(0, one.backend.find(':')); // "pass", of each pass
    const bool is_new = backends.insert(backend).second;
    if (one.name == asked.name)
      return is_new;
  }
  return false;
}

/// The script for an issue tracker (repro.py) is short, and was run.
void expect_short_script(const Case &one, const json &report) {
  EXPECT_EQ(report.at("repro_py").at("verified"), true) << report.at("repro_py");
  const int to_make_constants = one.reads_unwritten_memory ? 8 : 0; // it reads unwritten memory only with constants
  EXPECT_LE(report.at("repro_py").at("lines").get<int>(), 25 + to_make_constants);
}

/// Both repros were built and run, and say where it shows.
void expect_verified(const Case &one, const json &report) {
  EXPECT_EQ(report.at("verified"), true);
  expect_short_script(one, report);
  const bool only_in_python =
      read_text(one.repro() / "repro.cpp").find("It shows from Python only") != std::string::npos;
  // Before 2.13 packages of AOTInductor are unpacked in /tmp alone, which a check may not write. The minimum of bytes
  // is whatever the unused lanes of a vector hold: compiled ahead of time it may be right by chance.
  const bool by_chance = one.name.find("u8_min") != std::string::npos;
  const bool never_packed = one.backend == "inductor" && report.at("torch").get<std::string>() < "2.13";
  EXPECT_TRUE(by_chance || only_in_python == never_packed) << one.repro();
  expect_issue_survives_triage(one.repro());
}

/// The step that the case's cause names is the one that bisection found.
void expect_step(const Case &one, const json &bisect) {
  ASSERT_EQ(bisect.is_object() && bisect.at("guilty").is_string(), !one.guilty.empty()) << bisect;
  if (one.guilty.empty())
    return;
  EXPECT_EQ(pass_of(bisect.at("guilty")), one.guilty) << bisect;
}

/// The rows of the report's table, flattening's included, add up to all the operators removed and checks made.
void expect_table_adds_up(const json &report) {
  int removed = 0, checks = 0;
  for (const json &row : report.at("passes")) {
    removed += row.at("operators_removed").get<int>();
    checks += row.at("checks").get<int>();
  }
  EXPECT_EQ(removed, report.at("before").at("operators").get<int>() - report.at("after").at("operators").get<int>());
  EXPECT_EQ(checks, report.at("checks").get<int>());
}

void expect_reduces(const Case &one) {
  const fs::path repro = one.repro();
  std::vector<std::string> arguments = one.with_backend({one.model()});
  arguments.insert(arguments.end(), {"-o", repro, "--force", "--quiet"});
  const bool verifies = is_verified(one);
  if (verifies)
    arguments.emplace_back(verify);
  const Finished finished = run_tool(arguments);
  if (one.is_right()) {
    EXPECT_EQ(finished.exit_code, 1) << describe(finished);
    return;
  }
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);

  expect_files(repro);
  const json report = json::parse(read_text(repro / "report.json"));
  const json first_failure = report.at("original").at("signatures").at(0);
  EXPECT_EQ(first_failure.get<std::string>().rfind(one.kind, 0), 0u) << first_failure;
  EXPECT_EQ(report.at("verdict").at("kind"), one.reduced_kind);
  EXPECT_EQ(report.at("backend"), one.backend);
  EXPECT_EQ(report.at("grad"), one.grad);
  expect_table_adds_up(report);
  // The table counts as fixtures/cases/_lib/check.py does: after freezing, which folds what depends on constants alone.
  EXPECT_LE(report.at("after").at("operators_after_freezing").get<int>(), one.operators_at_most);
  EXPECT_GE(report.at("after").at("operators_after_freezing").get<int>(), 0);
  if (one.is_big()) {
    EXPECT_LE(report.at("after").at("operators").get<int>(), one.operators_at_most);
    EXPECT_LE(checks_until_small(repro), 15); // what the failure tells of its place leads there
  }
  EXPECT_EQ(report.at("one_minimal"), true);
  EXPECT_EQ(report.at("not_shown_because"), json::array());
  expect_step(one, report.at("bisect"));
  if (verifies)
    expect_verified(one, report);
}

/// The reduction of each case begins with the same check: only --all runs it on its own.
class RunFindsTheFailure : public testing::TestWithParam<Case> {};

TEST_P(RunFindsTheFailure, WithItsKind) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case &one = GetParam();
  if (one.lacks_python())
    GTEST_SKIP() << "no Python with torch here, which " << one.backend << " needs";
  const Finished finished = run_tool(one.with_backend({"run", one.model(), "--json"}));
  ASSERT_EQ(finished.exit_code, one.is_right() ? 0 : 1) << describe(finished);
  const json answer = json::parse(finished.out);
  EXPECT_EQ(answer.at("verdict").at("outcome"), one.is_right() ? "pass" : "fail") << finished.out;
  if (!one.is_right()) {
    EXPECT_EQ(answer.at("verdict").at("kind"), one.kind) << finished.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, RunFindsTheFailure, testing::ValuesIn(all_cases()), name_of);

class ReducesBigCase : public testing::TestWithParam<Case> {};

TEST_P(ReducesBigCase, ToItsRow) {
  if (GetParam().takes_long())
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  if (GetParam().lacks_python())
    GTEST_SKIP() << "no Python with torch here, which " << GetParam().backend << " needs";
  expect_reduces(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cases, ReducesBigCase,
                         testing::ValuesIn(cases_where([](const Case &one) { return one.is_big(); })), name_of);

class ReducesCase : public testing::TestWithParam<Case> {};

TEST_P(ReducesCase, ToItsRow) {
  if (GetParam().takes_long())
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  if (GetParam().lacks_python())
    GTEST_SKIP() << "no Python with torch here, which " << GetParam().backend << " needs";
  expect_reduces(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cases, ReducesCase,
                         testing::ValuesIn(cases_where([](const Case &one) { return !one.is_big(); })), name_of);

} // namespace
} // namespace repro_minify::end_to_end
