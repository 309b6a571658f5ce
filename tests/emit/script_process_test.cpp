#include "emit/script_process.h"

#include "repro_minify/confinement.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

namespace repro_minify {
namespace {

ScriptSetting setting() {
  return {test_paths::python, {.none = true}, std::chrono::minutes(30), {}};
}

/// Prints what the script knows of itself, and ends with an exception.
constexpr const char *what_it_knows = "import inspect, os, sys\n"
                                      "def itself(): return 17\n"
                                      "print(__name__, sys.argv == [__file__], os.path.basename(__file__))\n"
                                      "print(sys.path[0] == os.path.dirname(__file__), sys.stdin.read() == '')\n"
                                      "print(inspect.getsource(itself), end='')\n"
                                      "import torch\n"
                                      "print(int(torch.ones(3).sum()))\n"
                                      "raise AssertionError('said at the end')\n";
constexpr const char *printed = "__main__ True repro.py\nTrue True\ndef itself(): return 17\n3\n";

TEST(ScriptProcess, RunsTheSameInWaitingAndAtOnce) {
  ScriptProcess at_once(setting(), what_it_knows);
  const auto waited = ScriptProcess::in_waiting(setting(), "torch");
  ASSERT_TRUE(waited->begin(what_it_knows));
  for (ScriptProcess *process : {&at_once, waited.get()}) {
    const ReproRun run = process->wait({});
    EXPECT_EQ(run.job_end.ending, Ending::Exited) << run.job_end.output_tail;
    EXPECT_EQ(run.job_end.exit_code, 1);
    EXPECT_EQ(run.printed, printed) << run.job_end.output_tail;
    EXPECT_NE(run.job_end.output_tail.find("AssertionError: said at the end"), std::string::npos);
  }
}

TEST(ScriptProcess, LetsAScriptInWaitingCrash) {
  const auto waited = ScriptProcess::in_waiting(setting(), "torch");
  ASSERT_TRUE(waited->begin("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"));
  const ReproRun run = waited->wait({});
  EXPECT_EQ(run.job_end.ending, Ending::Crashed);
  EXPECT_EQ(run.job_end.signal, SIGSEGV);
}

TEST(ScriptProcess, TakesNoScriptWhenItHasEnded) {
  ScriptSetting without_torch = setting();
  without_torch.python = "/bin/false";
  const auto waited = ScriptProcess::in_waiting(without_torch, "torch");
  waited->wait({});
  EXPECT_FALSE(waited->begin(what_it_knows));
}

} // namespace
} // namespace repro_minify
