// Ctrl-C and SIGTERM in the middle of a reduction: the best program so far is kept, and it still fails. Whenever it is,
// the report and the exit code agree.
#include "all_tests.h"
#include "cases.h"
#include "on_cuda.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <cstdlib>
#include <fstream>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

struct Interruption {
  int signal;
  bool on_cuda; ///< where the process that computes is kept
};

class Interrupted : public testing::TestWithParam<Interruption> {};

TEST_P(Interrupted, KeepsTheBestSoFar) {
  const bool on_cuda = GetParam().on_cuda;
  // The longest search of all; on a device eager itself raises.
  const Case one = case_named(on_cuda ? "big_jit_bool_mask" : "big_jit_loop_swap");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const std::vector<std::string> arguments = {one.model(), "--backend", "jit", "-o", repro, "--jobs", "1", "--quiet"};
  const auto words = [&](std::vector<std::string> of) {
    if (on_cuda)
      return words_on_cuda(of);
    of.insert(of.begin(), test_paths::program);
    return of;
  };
  RunningProgram program(words(arguments));
  const auto has_begun = [&] { return lines_in(repro / "journal.jsonl") >= 5 && fs::exists(repro / "reduced.pt"); };
  ASSERT_TRUE(program.wait_until(has_begun, std::chrono::seconds(300)))
      << describe(program.wait(std::chrono::seconds(1)));
  program.send_signal(GetParam().signal);
  const Finished finished = program.wait(std::chrono::seconds(300));
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
  ASSERT_TRUE(fs::exists(repro / "reduced.pt")) << describe(finished);
  const auto report = nlohmann::json::parse(read_text(repro / "report.json"));
  EXPECT_LT(report.at("after").at("operators").get<int>(), report.at("before").at("operators").get<int>());

  const Finished again =
      run_program(words({"run", repro / "reduced.pt", "--inputs", repro / "inputs.pt", "--backend", "jit"}));
  EXPECT_EQ(again.exit_code, 1) << describe(again);
}

std::string signal_name(const testing::TestParamInfo<Interruption> &info) {
  return std::string(info.param.signal == SIGINT ? "SIGINT" : "SIGTERM") + (info.param.on_cuda ? "_on_cuda" : "");
}

/// Whatever the program computes by itself: here it never comes to an end, and looks at nothing meanwhile.
TEST(InterruptedWhileItComputes, EndsAllTheSameAndGoesOnFromThere) {
  const Case one = case_named("big_jit_loop_swap");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro", go = folder / "go";
  const std::vector<std::string> arguments = {one.model(), "--backend", "jit", "-o", repro, "--jobs", "1", "--quiet"};
  std::vector<std::string> preloaded = {"env", std::string("LD_PRELOAD=") + test_paths::endless_parent,
                                        "ENDLESS_PARENT=" + go.string(), test_paths::program};
  preloaded.insert(preloaded.end(), arguments.begin(), arguments.end());
  RunningProgram program(preloaded);
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(repro / "reduced.pt"); }, std::chrono::seconds(120)))
      << describe(program.wait(std::chrono::seconds(1)));
  std::ofstream(go).close();
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(folder / "go.computing"); }, std::chrono::seconds(120)));
  program.send_signal(SIGTERM);
  const Finished finished = program.wait(std::chrono::seconds(60));
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
  EXPECT_FALSE(fs::exists(folder / "go.over"));
  EXPECT_TRUE(contains(finished.err, "interrupted while it computed; the best that was saved is in")) << finished.err;
  EXPECT_FALSE(fs::exists(repro / "report.json"));

  std::vector<std::string> again = arguments;
  again.insert(again.end(), {"--resume", "--no-verify", "--no-bisect"});
  const Finished resumed = run_tool(again);
  EXPECT_EQ(resumed.exit_code, 0) << describe(resumed);
  const auto report = nlohmann::json::parse(read_text(repro / "report.json"));
  EXPECT_GT(report.at("resumed").get<int>(), 0);
  EXPECT_LE(report.at("after").at("operators").get<int>(), one.operators_at_most);
}

/// All but the page is written then: the exit code and the report have to say the same of it.
TEST(InterruptedWhileThePageIsDrawn, IsInterruptedInTheReportToo) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  std::ofstream(folder / "dot") << "#!/bin/sh\nexec sleep 3600\n";
  fs::permissions(folder / "dot", fs::perms::owner_all);
  RunningProgram program({"env", "PATH=" + folder.path().string() + ":" + getenv("PATH"), test_paths::program,
                          case_named("jit_type_as_dce").model(), "--backend", "jit", "-o", repro, "--quiet",
                          "--no-verify", "--no-bisect"});
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(repro / "issue.md"); }, std::chrono::seconds(300)))
      << describe(program.wait(std::chrono::seconds(1)));
  program.send_signal(SIGINT);
  const Finished finished = program.wait(std::chrono::seconds(300));
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
  EXPECT_TRUE(nlohmann::json::parse(read_text(repro / "report.json")).at("interrupted").get<bool>());
  EXPECT_TRUE(contains(read_text(repro / "report.html"), "the run was interrupted")) << describe(finished);
}

/// The repro is there and verified by then: only what TorchInductor does is not known.
TEST(InterruptedWhileInductorIsAsked, KeepsWhatIsVerified) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro", python = folder / "python";
  // Its TorchInductor never answers, so that the signal arrives while it is asked, however busy the machine is.
  std::ofstream(python) << "#!/bin/sh\ncase \"$*\" in *worker.py*) exec sleep 3600;; esac\nexec '" << test_paths::python
                        << "' \"$@\"\n";
  fs::permissions(python, fs::perms::owner_all);
  RunningProgram program({test_paths::program, case_named("jit_type_as_dce").model(), "--backend", "jit", "-o", repro,
                          "--quiet", "--no-bisect", "--python", python});
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(repro / "report.html"); }, std::chrono::seconds(300)))
      << describe(program.wait(std::chrono::seconds(1)));
  program.send_signal(SIGINT);
  const Finished finished = program.wait(std::chrono::seconds(300));
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
  const auto report = nlohmann::json::parse(read_text(repro / "report.json"));
  EXPECT_TRUE(report.at("interrupted").get<bool>());
  EXPECT_TRUE(report.at("verified").get<bool>()) << describe(finished);
  const std::string issue = read_text(repro / "issue.md");
  EXPECT_TRUE(contains(issue, "- Not asked: inductor\n")) << issue;
  EXPECT_TRUE(contains(issue, "whether inductor is too is not known")) << issue;
}

INSTANTIATE_TEST_SUITE_P(By, Interrupted,
                         testing::Values(Interruption{SIGINT, false}, Interruption{SIGTERM, false},
                                         Interruption{SIGINT, true}, Interruption{SIGTERM, true}),
                         signal_name);

} // namespace
} // namespace repro_minify::end_to_end
