// kill -9 at any moment loses nothing: --resume goes on, asks nothing twice, and ends where an undisturbed run does.
#include "all_tests.h"
#include "cases.h"
#include "on_cuda.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> command(const Case &one, const fs::path &repro) {
  return one.with_backend({one.model(), "-o", repro, "--no-verify", "--quiet", "--resume"});
}

/// How often each question stands in a journal.
std::map<std::string, int> questions(const fs::path &journal) {
  std::map<std::string, int> count;
  std::istringstream lines(read_text(journal));
  for (std::string line; std::getline(lines, line);)
    if (const json entry = json::parse(line); entry.contains("hash"))
      ++count[entry["hash"]];
  return count;
}

void expect_same_end(const fs::path &expected, const fs::path &found, const std::string &how) {
  for (const char *file : {"reduced.pt", "inputs.pt", "repro.cpp", "passing.pt"}) {
    EXPECT_FALSE(read_text(expected / file).empty()) << file;
    EXPECT_EQ(read_text(expected / file), read_text(found / file)) << file << ' ' << how;
  }
  EXPECT_EQ(questions(expected / "journal.jsonl"), questions(found / "journal.jsonl")) << how;
}

TEST(Resume, EndsWhereAnUndisturbedRunDoesHoweverOftenItIsKilled) {
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const fs::path undisturbed = folder / "undisturbed.repro";
  const Finished finished = run_tool(command(one, undisturbed));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const long lines = lines_in(undisturbed / "journal.jsonl");

  std::mt19937 random(1);
  std::uniform_int_distribution<int> microseconds(0, 20'000);
  const int all_kills = how_many(5, 20);
  int kills = 0, in_the_middle = 0;
  for (int round = 0; kills < all_kills; ++round) {
    const fs::path repro = folder / ("killed" + std::to_string(round) + ".repro");
    // One to four kills before it may come to its end.
    for (int times = 1 + round % 4; times > 0 && kills < all_kills; --times, ++kills) {
      auto arguments = command(one, repro);
      arguments.insert(arguments.begin(), test_paths::program);
      const auto written = [&] { return lines_in(repro / "journal.jsonl"); };
      const long before = written();
      const long more = std::uniform_int_distribution<long>(0, std::max(0L, lines - before))(random);
      RunningProgram program(arguments);
      program.wait_until([&] { return written() >= before + more; }, std::chrono::seconds(300));
      // Before an answer, after it, or while the results are written.
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
      program.send_signal(SIGKILL);
      program.wait(std::chrono::seconds(300));
      in_the_middle += fs::exists(repro / "journal.jsonl") && !fs::exists(repro / "report.json");
    }
    const Finished resumed = run_tool(command(one, repro));
    ASSERT_EQ(resumed.exit_code, 0) << describe(resumed);
    expect_same_end(undisturbed, repro, "round " + std::to_string(round));
    for (const auto &[question, times] : questions(repro / "journal.jsonl"))
      EXPECT_EQ(times, 1) << question;
  }
  // Else this says nothing.
  EXPECT_GE(in_the_middle, all_kills / 4);
}

/// There the process that answers is kept, and is gone as well.
TEST(Resume, EndsWhereAnUndisturbedRunDoesOnADevice) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const fs::path undisturbed = folder / "undisturbed.repro", repro = folder / "killed.repro";
  auto arguments = command(one, undisturbed);
  ASSERT_EQ(run_on_cuda(arguments).exit_code, 0);
  arguments = command(one, repro);
  RunningProgram program(words_on_cuda(arguments));
  ASSERT_TRUE(program.wait_until([&] { return lines_in(repro / "journal.jsonl") >= 8; }, std::chrono::seconds(300)));
  program.send_signal(SIGKILL);
  program.wait(std::chrono::seconds(300));
  EXPECT_FALSE(fs::exists(repro / "report.json"));
  const Finished resumed = run_on_cuda(arguments);
  ASSERT_EQ(resumed.exit_code, 0) << describe(resumed);
  expect_same_end(undisturbed, repro, "killed once");
}

TEST(Resume, SaysWhereThereIsNothingToGoOnFrom) {
  const Case one = case_named("static_int_div_exc");
  const TemporaryFolder folder;
  const std::string said = "there is no " + (folder / "x.repro/journal.jsonl").string() + ", so the search begins anew";
  auto arguments = one.with_backend({one.model(), "-o", folder / "x.repro", "--no-verify", "--no-bisect", "--resume"});
  EXPECT_NE(run_tool(arguments).err.find(said), std::string::npos);
  const Finished again = run_tool(arguments);
  EXPECT_EQ(again.err.find(said), std::string::npos) << describe(again);
  EXPECT_NE(again.err.find("resuming: "), std::string::npos) << describe(again);
}

TEST(Resume, TakesHalfALineForNone) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("static_int_div_exc");
  const TemporaryFolder folder;
  const fs::path whole = folder / "whole.repro", torn = folder / "torn.repro";
  ASSERT_EQ(run_tool(command(one, whole)).exit_code, 0);
  const std::string journal = read_text(whole / "journal.jsonl");
  for (const double part : {0.001, 0.3, 0.7, 0.99}) {
    fs::remove_all(torn);
    fs::create_directory(torn);
    std::ofstream(torn / "journal.jsonl") << journal.substr(0, static_cast<size_t>(part * journal.size()));
    const Finished resumed = run_tool(command(one, torn));
    ASSERT_EQ(resumed.exit_code, 0) << describe(resumed);
    expect_same_end(whole, torn, std::to_string(part));
  }
}

TEST(Resume, RefusesTheJournalOfAnotherRun) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("static_int_div_exc"), other = case_named("static_sigmoid_int_exc");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  ASSERT_EQ(run_tool(command(one, repro)).exit_code, 0);
  const std::string before = read_text(repro / "reduced.pt");
  const Finished another_model = run_tool(command(other, repro));
  EXPECT_EQ(another_model.exit_code, 2);
  EXPECT_NE(another_model.err.find("journal of another run (the content of the model's file has changed"),
            std::string::npos)
      << describe(another_model);
  auto arguments = command(one, repro);
  arguments.push_back("--calls=4");
  const Finished other_settings = run_tool(arguments);
  EXPECT_EQ(other_settings.exit_code, 2);
  EXPECT_NE(other_settings.err.find("(calls is 4, was 3)"), std::string::npos) << describe(other_settings);
  arguments.back() = "--tol=0.0010000000000000002"; // the next number after the default
  const Finished other_tolerance = run_tool(arguments);
  EXPECT_EQ(other_tolerance.exit_code, 2);
  EXPECT_NE(other_tolerance.err.find("(tolerance is 0.0010000000000000002, was 0.001)"), std::string::npos)
      << describe(other_tolerance);
  EXPECT_EQ(read_text(repro / "reduced.pt"), before);
}

/// Expects --resume to be refused once the file that gave the answers has changed under the same name.
void expect_refused_once_changed(const fs::path &file, const std::vector<std::string> &arguments,
                                 const std::string &what) {
  ASSERT_EQ(run_tool(arguments).exit_code, 0);
  ASSERT_EQ(run_tool(arguments).exit_code, 0) << "the same is resumed";
  std::ofstream(file, std::ios::app | std::ios::binary) << "\n";
  const Finished refused = run_tool(arguments);
  EXPECT_EQ(refused.exit_code, 2) << describe(refused);
  EXPECT_NE(refused.err.find("(the content of " + what + " has changed)"), std::string::npos) << describe(refused);
}

TEST(Resume, RefusesTheAnswersOfAnotherPlugin) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const fs::path plugin = folder / "plugin.so";
  fs::copy_file(test_paths::example_plugin, plugin);
  expect_refused_once_changed(plugin,
                              {one.model(), "-o", folder / "x.repro", "--no-verify", "--quiet", "--resume", "--backend",
                               "plugin:" + plugin.string()},
                              "the plugin");
}

TEST(Resume, RefusesTheAnswersOfAnotherOracle) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("static_int_div_exc");
  const TemporaryFolder folder;
  const fs::path oracle = folder / "oracle.sh";
  std::ofstream(oracle) << "#!/bin/sh\ngrep -q div \"$1\"\n";
  fs::permissions(oracle, fs::perms::owner_all);
  expect_refused_once_changed(
      oracle, {one.model(), "-o", folder / "x.repro", "--quiet", "--resume", "--oracle", oracle}, "the oracle");
}

TEST(TimeBudget, EndsWithTheBestSoFarAndCanBeResumed) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("big_grad_max_tie");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro", whole = folder / "whole.repro";
  auto arguments = command(one, repro);
  arguments.push_back("--time-budget=1.5");
  const Finished finished = run_tool(arguments);
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_TRUE(report["out_of_time"]);
  EXPECT_FALSE(report["one_minimal"]);
  EXPECT_EQ(report["not_shown_because"], json({"the time budget was spent"}));
  EXPECT_NE(finished.err.find("not shown to be 1-minimal: the time budget was spent"), std::string::npos)
      << describe(finished);
  EXPECT_NE(read_text(repro / "report.md").find("time budget"), std::string::npos);
  const Finished again = run_tool(one.with_backend({"run", repro / "reduced.pt", "--inputs", repro / "inputs.pt"}));
  EXPECT_EQ(again.exit_code, 1) << describe(again);

  ASSERT_EQ(run_tool(command(one, repro)).exit_code, 0);
  ASSERT_EQ(run_tool(command(one, whole)).exit_code, 0);
  expect_same_end(whole, repro, "after the budget");
  EXPECT_TRUE(json::parse(read_text(repro / "report.json"))["one_minimal"]);
}

/// The one difference is a candidate's distance: the same backend agrees with eager on it.
TEST(Passing, IsAProgramThatPasses) {
  const Case one = case_named("big_freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  ASSERT_EQ(run_tool(command(one, repro)).exit_code, 0);
  const Finished passes =
      run_tool(one.with_backend({"run", repro / "passing.pt", "--inputs", repro / "passing_inputs.pt"}));
  EXPECT_EQ(passes.exit_code, 0) << describe(passes);
}

} // namespace
} // namespace repro_minify::end_to_end
