// Programs as backends: what they write, how they end, and the repro that runs them.
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

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
      run_tool({case_named("nnc_round_half").model(), "--backend", shell(R"(cp "$2" "$3")"), "-o", repro});
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

TEST(CommandBackend, CrashesWithItsSignal) {
  const json verdict = verdict_of(shell("kill -SEGV $$"));
  EXPECT_EQ(verdict["kind"], "crash");
  EXPECT_NE(verdict.dump().find("signal 11"), std::string::npos) << verdict;
}

/// Whether a process runs `sleep SECONDS`.
bool sleeps(const std::string &seconds) {
  const std::string wanted = std::string("sleep\0", 6) + seconds;
  for (const auto &entry : fs::directory_iterator("/proc"))
    if (read_text(entry.path() / "cmdline").rfind(wanted, 0) == 0)
      return true;
  return false;
}

TEST(CommandBackend, IsKilledWithAllItStarted) {
  const json verdict = verdict_of(shell("sleep 98.7654; true"), {"--timeout", "1"});
  EXPECT_EQ(verdict["kind"], "hang");
  EXPECT_FALSE(sleeps("98.7654"));
}

TEST(CommandBackend, LeavesNothingBehind) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program({"env", "TMPDIR=" + folder.path().string(), REPRO_MINIFY_BINARY, "run",
                         case_named("nnc_round_half").model(), "--backend", shell("sleep 98.7655"), "--timeout", "1"})
                .exit_code,
            1);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(CommandBackend, WhatCannotBeStartedIsBadInput) {
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

TEST(CommandBackend, MayBePython) {
  if (std::string(REPRO_MINIFY_PYTHON).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  std::ofstream(folder / "run it.py") << "import sys, torch\n"
                                         "model, inputs, outputs = sys.argv[1:]\n"
                                         "with torch.no_grad():\n"
                                         "  result = torch.jit.load(model)(*torch.load(inputs))\n"
                                         "torch.save([result], outputs)\n";
  const Finished finished =
      run_with(std::string("command:") + REPRO_MINIFY_PYTHON + " '" + (folder / "run it.py").string() + "'");
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
}

bool has_onnxruntime() {
  return !std::string(REPRO_MINIFY_PYTHON).empty() &&
         run_program({REPRO_MINIFY_PYTHON, "-c", "import onnx, onnxruntime"}).exit_code == 0;
}

TEST(CommandBackend, FindsWhatOnnxRuntimeGetsWrong) {
  if (!has_onnxruntime())
    GTEST_SKIP() << "no Python here that has torch, onnx and onnxruntime";
  const TemporaryFolder folder;
  const Finished made = run_program({REPRO_MINIFY_PYTHON, REPRO_MINIFY_ONNXRUNTIME_MODEL, folder.path()});
  ASSERT_EQ(made.exit_code, 0) << describe(made);
  const std::string script = std::string(REPRO_MINIFY_SCRIPTS) + "/backends/onnxruntime_backend.py";
  const fs::path repro = folder / "x.repro";
  const Finished finished = run_tool(
      {folder / "failing.pt", "--backend", "command:" + std::string(REPRO_MINIFY_PYTHON) + " " + script, "-o", repro});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report["verdict"]["kind"], "nan");
  EXPECT_TRUE(report["verified"]) << report["verification"];
  EXPECT_EQ(report["after"]["operators"], 1);
  EXPECT_EQ(operators_of(repro / "reduced.pt").count("aten::clamp"), 1);
}

TEST(SeveralBackends, AreForAReduction) {
  const Finished finished = run_with("freeze,jit");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("only a reduction takes several"), std::string::npos) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
