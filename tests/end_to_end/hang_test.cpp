// Tests of a model that hangs (fixtures/hangs), of one that is not supported (fixtures/unsupported), and of a user who
// does not want to wait.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path hanging() {
  return fixtures() / "hangs" / "nnc_inlining" / "failing.pt";
}

/// The machine is busy as long as this lives.
class BusyMachine {
public:
  BusyMachine() {
    for (unsigned i = 0; i < 3 * std::thread::hardware_concurrency(); ++i)
      threads_.emplace_back([](const std::stop_token &stop) {
        while (!stop.stop_requested()) {
        }
      });
  }

private:
  std::vector<std::jthread> threads_;
};

// A check that takes half the limit on a quiet machine takes all of it on a busy one, and is no hang for that.
TEST(Hang, IsReducedUnderALimitOfItsOwn) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  RunningProgram program({test_paths::program, hanging(), "--backend", "nnc", "-o", repro, "--timeout", "1.5",
                          "--time-budget", everything_is_asked_for() ? "90" : "8", "--no-bisect", "--no-verify"});
  ASSERT_TRUE(program.wait_until([&] { return lines_in(repro / "journal.jsonl") > 0; }, std::chrono::seconds(300)))
      << describe(program.wait(std::chrono::seconds(1)));
  const BusyMachine busy;
  const Finished finished = program.wait(std::chrono::seconds(600));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["verdict"]["kind"], "hang");
  EXPECT_LE(report["after"]["operators"], report["before"]["operators"]);
  if (everything_is_asked_for()) { // the shorter budget may be spent before anything has hung once more
    EXPECT_LT(report["after"]["operators"], report["before"]["operators"]);
  }
}

TEST(Hang, IsLeftWithinMomentsOfASignal) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  // The check would hang for an hour, which is more than this test waits.
  RunningProgram program({test_paths::program, hanging(), "--backend", "nnc", "-o", repro, "--timeout", "3600"});
  EXPECT_TRUE(program.wait_until([&] { return program.has_children(); }, std::chrono::seconds(300)));
  program.send_signal(SIGTERM);
  const Finished finished = program.wait(std::chrono::seconds(300));
  EXPECT_FALSE(finished.timed_out);
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
}

TEST(NotSupported, IsNoFailureAndTheOperatorIsNamed) {
  const fs::path model = fixtures() / "unsupported" / "static_no_grad_block" / "failing.pt";
  for (const std::vector<std::string> &command : {std::vector<std::string>{"run"}, std::vector<std::string>{}}) {
    const TemporaryFolder folder;
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {model, "--backend", "static-runtime"});
    if (command.empty())
      arguments.insert(arguments.end(), {"-o", folder / "x.repro"});
    const Finished finished = run_tool(arguments);
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    EXPECT_NE(finished.err.find("prim::Enter"), std::string::npos) << describe(finished);
  }
}

TEST(FrozenGradients, AreLeftOutAndThatIsSaid) {
  const Case one = case_named("freeze_linear_bn_3d"); // its parameters require gradients, its inputs.pt does not
  const Finished nothing = run_tool({"run", one.model(), "--backend", "freeze", "--grad"});
  EXPECT_EQ(nothing.exit_code, 2) << describe(nothing);
  EXPECT_NE(nothing.err.find("--grad has nothing to compare"), std::string::npos) << describe(nothing);
  const Finished some = run_tool({"run", one.model(), "--backend", "freeze", "--grad", "--input", "f32[2,4,5]"});
  EXPECT_EQ(some.exit_code, 1) << describe(some);
  EXPECT_NE(some.out.find("not compared: the gradients of"), std::string::npos) << describe(some);
  EXPECT_NE(some.out.find("gradient of input 0"), std::string::npos) << describe(some);
}

} // namespace
} // namespace repro_minify::end_to_end
