// Programs as backends: what they write, how they end, and the repro that runs them.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Three arguments follow: the model, its inputs, where to write what it returns.
std::string shell(const std::string &script) {
  return "command:sh -c '" + script + "' sh";
}

Finished run_with(const std::string &backend, const std::vector<std::string> &extra = {}) {
  std::vector<std::string> arguments = {"run", case_named("nnc_round_half").model(), "--json", "--backend", backend};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  return run_tool(arguments);
}

json verdict_of(const std::string &backend, const std::vector<std::string> &extra = {}) {
  const Finished finished = run_with(backend, extra);
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  return json::parse(finished.out)["verdict"];
}

/// A compiler that computes nothing: it gives back what it was given. The repro runs it too.
TEST(CommandBackend, ReducesToAVerifiedRepro) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      run_tool({case_named("nnc_round_half").model(), "--backend", shell(R"(cp "$2" "$3")"), "-o", repro, verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["verdict"]["kind"], "accuracy");
  EXPECT_EQ(report["after"]["operators"], 1);
  EXPECT_TRUE(report["verified"]) << report["verification"];
  EXPECT_NE(read_text(repro / "repro.cpp").find("REPRO_COMMAND"), std::string::npos);
}

TEST(CommandBackend, RaisesWhatItSaysLast) {
  const json verdict = verdict_of(shell("echo first >&2; echo out of luck >&2; echo >&2; exit 3"));
  EXPECT_EQ(verdict["kind"], "exception");
  EXPECT_EQ(verdict["message"], "out of luck");
  EXPECT_EQ(verdict_of(shell("exit 0"))["message"], "the command wrote no outputs.pt");
}

/// The model returns four tensors, and has another number of inputs, which come back.
TEST(CommandBackend, AnotherNumberOfResultsIsAnotherStructure) {
  const Finished finished =
      run_tool({"run", case_named("jit_75794_loop_swap").model(), "--json", "--backend", shell(R"(cp "$2" "$3")")});
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  const json verdict = json::parse(finished.out)["verdict"];
  EXPECT_EQ(verdict["kind"], "structure");
  EXPECT_TRUE(verdict["message"].get<std::string>().starts_with("tuple of 4 expected, tuple of ")) << verdict;
}

TEST(CommandBackend, CrashesWithItsSignal) {
  const json verdict = verdict_of(shell("kill -SEGV $$"));
  EXPECT_EQ(verdict["kind"], "crash");
  EXPECT_NE(verdict.dump().find("signal 11"), std::string::npos) << verdict;
}

TEST(CommandBackend, IsKilledWithAllItStarted) {
  const json verdict = verdict_of(shell("sleep 98.7654; true"), {"--timeout", "1"});
  EXPECT_EQ(verdict["kind"], "hang");
  EXPECT_FALSE(sleeps("98.7654"));
}

TEST(CommandBackend, LeavesNothingBehind) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program({"env", "TMPDIR=" + folder.path().string(), test_paths::program, "run",
                         case_named("nnc_round_half").model(), "--backend", shell("sleep 98.7655"), "--timeout", "1"})
                .exit_code,
            1);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(CommandBackend, WhatCannotBeStartedIsBadInput) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const auto says = [&](const Finished &finished, const std::string &text) {
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    EXPECT_NE(finished.err.find(text), std::string::npos) << describe(finished);
  };
  says(run_with("command:"), "names no program");
  says(run_with("command:no-such-program-here --fast"), "no-such-program-here is no program");
  says(run_with("command:sh -c 'exit"), "not closed");
  says(run_with(shell("exit 0"), {"--grad"}), "computes no gradients");
  says(run_with(shell("exit 0"), {"--autocast"}), "give --no-autocast");
}

TEST(CommandBackend, WhatIsGoneSaysNothingOfTheModel) {
  const TemporaryFolder folder;
  const std::string program = folder / "once";
  std::ofstream(program) << "#!/bin/sh\nrm \"$0\"\ncp \"$2\" \"$3\"\n";
  fs::permissions(program, fs::perms::owner_all);
  const Finished finished = run_program({test_paths::program, case_named("nnc_round_half").model(), "--backend",
                                         "command:" + program, "-o", folder / "results"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("once: cannot be started: No such file or directory"), std::string::npos)
      << describe(finished);
}

TEST(CommandBackend, MayBePython) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  std::ofstream(folder / "run it.py") << "import sys, torch\n"
                                         "model, inputs, outputs = sys.argv[1:]\n"
                                         "with torch.no_grad():\n"
                                         "  result = torch.jit.load(model)(*torch.load(inputs))\n"
                                         "torch.save([result], outputs)\n";
  const Finished finished =
      run_with(std::string("command:") + test_paths::python + " '" + (folder / "run it.py").string() + "'");
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
}

/// Programs that are started once, with scripts/backends/serve.py.
class Served : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(test_paths::python).empty())
      GTEST_SKIP() << "no Python with torch here";
  }

  /// One that imports this and notes how it was started, once, and does this for each request.
  std::string command(const std::string &deed, const std::string &imports = "os, sys") const {
    std::ofstream(folder_ / "run.py") << "import " + imports +
                                             "\n"
                                             "server = os.getpid()\n"
                                             "sys.path.insert(0, '" +
                                             std::string(test_paths::scripts) +
                                             "/backends')\n"
                                             "from serve import serve\n"
                                             "def main():\n"
                                             "  model, inputs, outputs = sys.argv[1:]\n"
                                             "  " +
                                             deed +
                                             "\n"
                                             "open('" +
                                             starts().string() +
                                             "', 'a').write(sys.argv[-1][-7:] + '\\n')\n"
                                             "if sys.argv[-1] == '--serve':\n"
                                             "  serve(main)\n"
                                             "main()\n";
    return std::string("command:") + test_paths::python + " " + (folder_ / "run.py").string() + " --serve";
  }
  fs::path starts() const { return folder_ / "starts"; }

  TemporaryFolder folder_;
};

/// The compiler of the first test. The repro needs no server.
TEST_F(Served, ReducesToAVerifiedRepro) {
  const fs::path repro = folder_ / "x.repro";
  const Finished finished = run_tool({case_named("nnc_round_half").model(), "--backend",
                                      command("import shutil; shutil.copy(inputs, outputs)"), "-o", repro, verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["verdict"]["kind"], "accuracy");
  EXPECT_EQ(report["after"]["operators"], 1);
  EXPECT_TRUE(report["verified"]) << report["verification"];
  EXPECT_EQ(read_text(starts()), "--serve\nputs.pt\n");
}

/// Its fifth request kills it: it is started again, and what it has not answered is asked again.
TEST_F(Served, IsStartedAgainWhenItHasGone) {
  const fs::path repro = folder_ / "x.repro";
  const std::string count = "f = open('" + (folder_ / "requests").string() + "', 'a'); f.write('x'); f.flush(); ";
  const Finished finished =
      run_tool({case_named("nnc_round_half").model(), "--backend",
                command("import shutil; " + count +
                        "os.fstat(f.fileno()).st_size == 5 and os.kill(server, 9); shutil.copy(inputs, outputs)"),
                "-o", repro, "--no-verify", "--jobs", "1"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["after"]["operators"], 1);
  EXPECT_TRUE(report["one_minimal"]) << describe(finished);
  EXPECT_EQ(read_text(starts()), "--serve\n--serve\n");
}

/// A right program is right where the model draws random numbers too: one that seeds the generators, and one that seeds
/// nothing and is started for each call.
TEST_F(Served, DrawsWhatEagerDraws) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string run_right = "model = torch.jit.load(model); "
                                "torch.save(model(*torch.load(inputs, weights_only=True)), outputs)";
  for (const bool seeds : {true, false}) {
    std::string backend =
        command((seeds ? "import serve; serve.seed_generators(); " : "") + run_right, "os, sys, torch");
    if (!seeds)
      backend.erase(backend.rfind(" --serve"));
    for (const char *seed : seeds ? std::vector{"0", "12345"} : std::vector{"12345"}) {
      const Finished finished = run_tool({"run", fixtures() / "random" / "dropout_train" / "model.pt", "--train",
                                          "--seed", seed, "--backend", backend});
      EXPECT_EQ(finished.exit_code, 0) << describe(finished);
    }
  }
}

TEST_F(Served, HasTheGeneratorsOfPythonSeeded) {
  const json verdict = verdict_of(command("import random; first = random.random(); random.seed(7); "
                                          "sys.exit('as after seed(7)' if first == random.random() else 'otherwise')"),
                                  {"--seed", "7"});
  EXPECT_EQ(verdict["message"], "as after seed(7)");
}

/// Started for each call, the program finds the seed in its environment.
TEST_F(Served, ThatDoesNotServeIsGivenTheSeed) {
  std::string backend = command("sys.exit('seed ' + os.environ['REPRO_MINIFY_SEED'])");
  backend.erase(backend.rfind(" --serve"));
  EXPECT_EQ(verdict_of(backend, {"--seed", "11"})["message"], "seed 11");
}

TEST_F(Served, RaisesAndCrashesAsItWouldAlone) {
  EXPECT_EQ(verdict_of(command("print('first', file=sys.stderr); sys.exit('out of luck')"))["message"], "out of luck");
  EXPECT_EQ(verdict_of(command("sys.exit(3)"))["message"], "exit code 3");
  EXPECT_EQ(verdict_of(command("None / 2"))["message"],
            "TypeError: unsupported operand type(s) for /: 'NoneType' and 'int'");
  EXPECT_EQ(verdict_of(command("pass"))["message"], "the command wrote no outputs.pt");
  const json verdict = verdict_of(command("import os; os.kill(os.getpid(), 11)"));
  EXPECT_EQ(verdict["kind"], "crash");
  EXPECT_NE(verdict.dump().find("signal 11"), std::string::npos) << verdict;
}

TEST_F(Served, IsKilledWithAllItStarted) {
  const json verdict =
      verdict_of(command("import subprocess; subprocess.run(['sleep', '98.7656'])"), {"--timeout", "3"});
  EXPECT_EQ(verdict["kind"], "hang");
  // The tool does not wait for the watcher process, which kills what the command started.
  for (int i = 0; i < 12'000 && sleeps("98.7656"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(sleeps("98.7656"));
}

TEST_F(Served, IsUnderTheMemoryLimit) {
  EXPECT_EQ(verdict_of(command("bytearray(1 << 30)"), {"--memory-limit", "500M"})["message"], "MemoryError");
}

/// The tool reads what the program writes: what it cannot read is no failure of the program.
TEST_F(Served, MayWriteWhatIsSparse) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  std::ofstream(folder_ / "make.py") << R"(import sys, torch
class Scaled(torch.nn.Module):
    def forward(self, a, x):
        a = a.to_sparse()
        return torch.relu(torch.sparse.mm(a, x)), a * 2
a = torch.tensor([[0.0, 1.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
torch.jit.script(Scaled()).save(sys.argv[1] + "/failing.pt")
torch.save((a, torch.ones(3, 4)), sys.argv[1] + "/inputs.pt")
)";
  const Finished made = run_program({test_paths::python, folder_ / "make.py", folder_.path()});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  const auto run = [&](const std::string &deed) {
    return run_tool({"run", folder_ / "failing.pt", "--backend", command(deed, "os, sys, torch")});
  };
  const std::string load = "a, x = torch.jit.load(model)(*torch.load(inputs, weights_only=True)); ";
  const Finished right = run(load + "torch.save((a, x), outputs)");
  EXPECT_EQ(right.exit_code, 0) << describe(right);
  const Finished wrong = run(load + "torch.save((a, x * 2), outputs)");
  EXPECT_EQ(wrong.exit_code, 1) << describe(wrong);
  EXPECT_EQ(wrong.out.find("exception"), std::string::npos) << describe(wrong);
}

/// torch.load refuses the form in which LibTorch saves a sparse tensor: that is no failure of the program.
TEST_F(Served, IsNotGivenWhatIsSparse) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  std::ofstream(folder_ / "make.py") << R"(import sys, torch
torch.jit.trace(lambda a: a * 2, torch.ones(3).to_sparse(), check_trace=False).save(sys.argv[1] + "/failing.pt")
torch.save(torch.ones(3).to_sparse(), sys.argv[1] + "/inputs.pt")
)";
  const Finished made = run_program({test_paths::python, folder_ / "make.py", folder_.path()});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  const Finished finished = run_tool({"run", folder_ / "failing.pt", "--backend", command("pass")});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("torch.load does not read a sparse tensor"), std::string::npos) << describe(finished);
}

TEST_F(Served, IsNotBlamedForWhatCannotBeRead) {
  const Finished finished = run_with(command("import torch; torch.save({1, 2}, outputs)"));
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("what it wrote cannot be read: outputs.pt: holds a set"), std::string::npos)
      << describe(finished);
}

TEST_F(Served, WhatDoesNotServeIsBadInput) {
  const Finished finished = run_with("command:sh -c 'echo no such option >&2; exit 2' --serve");
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("does not serve: no such option"), std::string::npos) << describe(finished);
}

TEST_F(Served, IsInterruptedWhileItStarts) {
  const std::string seconds = "701." + std::to_string(getpid());
  RunningProgram program({test_paths::program, "run", case_named("static_int_div_exc").model(), "--backend",
                          "command:sh -c 'exec sleep " + seconds + "' --serve"});
  ASSERT_TRUE(program.wait_until([&] { return sleeps(seconds); }, std::chrono::seconds(300)))
      << describe(program.wait(std::chrono::seconds(1)));
  program.send_signal(SIGINT);
  const Finished finished = program.wait(std::chrono::seconds(300)); // it has ten minutes to start
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
  EXPECT_FALSE(sleeps(seconds));
}

TEST(SeveralBackends, AreNotForAnAnalysis) {
  const TemporaryFolder folder;
  const Case one = case_named("freeze_linear_bn_3d");
  const Finished finished = run_tool({"analyze", one.model(), "--backend", "freeze,jit", "-o", folder / "x.analysis"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("only a reduction and `run` take several"), std::string::npos) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
