// Verified means verified: what exits with 1 for any other reason than the failure itself does not count.
#include "all_tests.h"
#include "core/files.h"
#include "core/programs.h"
#include "repro/script_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace repro_minify {
namespace {

const std::string marker = "REPRODUCED accuracy 0123abcd";

/// Runs a repro.py of this text and returns how the run is judged.
Verification judged(const std::string &script, const Signature &wanted, const std::string &line = marker) {
  const TemporaryFolder folder;
  const std::string file = folder / "repro.py";
  std::ofstream(file) << script;
  return judge_run(run_repro({"python3", "-B", file}, folder.path()), line, wanted);
}

const Signature accuracy{FailureKind::Accuracy, "output", ""};
const Signature exception{FailureKind::Exception, "", "no kernel for #"};
const Signature segfault{FailureKind::Crash, "", "signal 11 in at::native::f, at::g", 11};
const Signature leaves{FailureKind::Crash, "", "exit"};
const Signature hang{FailureKind::Hang, "", ""};

class JudgeRun : public testing::Test {
protected:
  void SetUp() override {
    if (find_program("python3").empty())
      GTEST_SKIP() << "no python3 here";
  }
};

TEST_F(JudgeRun, TheFailureIsTheFailure) {
  const auto verified = judged("print('FAIL accuracy: result 0')\nprint('" + marker + "')\nexit(1)", accuracy);
  EXPECT_TRUE(verified.same_failure) << verified.message;
}

/// LibTorch's messages end with the stack, which is long and says nothing to a user.
TEST_F(JudgeRun, TheReasonIsSaidWithoutTheStack) {
  const auto verified = judged("print('cannot be tried, eager itself raises: no kernel')\n"
                               "print('frame #0: f\\n' * 99)\nexit(2)",
                               accuracy);
  EXPECT_FALSE(verified.same_failure);
  EXPECT_EQ(verified.message, "repro ended with exit code 2 instead of exit code 1: cannot be tried, eager itself "
                              "raises: no kernel");
}

/// The sentence on a failure without a signal may begin with a digit.
TEST_F(JudgeRun, AnotherNumberOfResultsIsTheFailure) {
  const Signature structure{FailureKind::Structure, "output", ""};
  const std::string line = "REPRODUCED structure 0123abcd", end = "print('" + line + "')\nexit(1)";
  for (const char *said : {"2 results expected, 1 found", "1 expected, 2 found", "result 0"}) {
    const auto verified = judged(std::string("print('FAIL structure: ") + said + "')\n" + end, structure, line);
    EXPECT_TRUE(verified.same_failure) << said << ": " << verified.message;
  }
}

TEST_F(JudgeRun, WhatExitsWithOneIsNotEnough) {
  const std::string fails = "print('FAIL accuracy: result 0')\n", says = "print('" + marker + "')\n";
  const std::vector<std::string> scripts = {
      "raise RuntimeError('early')\n" + fails + says,
      "import no_such_module_at_all\n" + fails + says + "exit(1)",
      "this is no Python",
      "exit(1)",
      fails + "exit(1)",
      fails + "print('REPRODUCED nan 0123abcd')\nexit(1)",      // of another kind
      fails + "print('REPRODUCED accuracy 89abcdef')\nexit(1)", // of another program
      fails + "print('not " + marker + "')\nexit(1)",           // not a line of its own
      fails + "print('" + marker + ", or so')\nexit(1)",
      "import sys\n" + fails + "sys.stderr.write('" + marker + "\\n')\nexit(1)",
      "def f():\n    print('FAIL accuracy: x')\n    raise RuntimeError('before') or print('" + marker + "')\nf()",
      says + "exit(1)", // it does not say what it saw
      "print('FAIL nan: result 0')\n" + says + "exit(1)",
      "print('no FAIL accuracy: result 0')\n" + says + "exit(1)",
      says + fails + "exit(1)", // in the wrong order: it went on after it had failed
  };
  for (const auto &script : scripts) {
    const Verification verification = judged(script, accuracy);
    EXPECT_FALSE(verification.same_failure) << script;
    EXPECT_FALSE(verification.message.empty());
  }
}

TEST_F(JudgeRun, HowItEndsCountsToo) {
  const std::string all = "print('FAIL accuracy: result 0')\nprint('" + marker + "', flush=True)\n";
  EXPECT_FALSE(judged(all, accuracy).same_failure); // exit code 0
  EXPECT_FALSE(judged(all + "exit(2)", accuracy).same_failure);
  EXPECT_FALSE(judged(all + "import os\nos.kill(os.getpid(), 11)", accuracy).same_failure);
  EXPECT_FALSE(judged(all + "import os\nos.kill(os.getpid(), 9)", accuracy).same_failure);
  EXPECT_FALSE(
      judge_run(run_repro({"no-such-program-at-all"}, TemporaryFolder().path()), marker, accuracy).same_failure);
}

TEST_F(JudgeRun, TheExceptionIsTheSameOne) {
  const std::string line = "REPRODUCED exception 0123abcd", end = "print('" + line + "')\nexit(1)";
  EXPECT_TRUE(judged("print('FAIL exception: no kernel for 3')\n" + end, exception, line).same_failure);
  EXPECT_FALSE(judged("print('FAIL exception: no kernel at all')\n" + end, exception, line).same_failure);
  EXPECT_FALSE(judged(end, exception, line).same_failure);
  // However long it is, and whatever is printed before.
  const std::string much =
      "print('noise ' * 3000)\nprint('FAIL exception: no kernel for 3\\n' + 'and more\\n' * 9000)\n";
  const Verification verification = judged(much + end, exception, line);
  EXPECT_TRUE(verification.same_failure) << verification.message;
  EXPECT_FALSE(
      judged("print('FAIL exception: other\\n' + 'no kernel for 3\\n' * 9000)\n" + end, exception, line).same_failure);
}

TEST_F(JudgeRun, TheCrashIsTheSameOne) {
  const std::string line = "REPRODUCED crash 0123abcd", end = "print('" + line + "')\nexit(1)";
  EXPECT_TRUE(judged("print('FAIL crash: signal 11')\n" + end, segfault, line).same_failure);
  EXPECT_FALSE(judged("print('FAIL crash: signal 6')\n" + end, segfault, line).same_failure);
  EXPECT_FALSE(judged("print('FAIL crash: signal 110')\n" + end, segfault, line).same_failure);
  EXPECT_FALSE(judged("print('FAIL crash: exit code 11')\n" + end, segfault, line).same_failure);
  EXPECT_FALSE(judged(end, segfault, line).same_failure);
  EXPECT_TRUE(judged("print('FAIL crash: exit code 3')\n" + end, leaves, line).same_failure);
  EXPECT_FALSE(judged("print('FAIL crash: signal 11')\n" + end, leaves, line).same_failure);
}

TEST_F(JudgeRun, AHangEndsByItsOwnAlarm) {
  const std::string line = "REPRODUCED hang 0123abcd", end = "print('" + line + "')\nexit(1)";
  EXPECT_TRUE(judged("print('FAIL hang: signal 14')\n" + end, hang, line).same_failure);
  EXPECT_FALSE(judged("print('FAIL hang: signal 11')\n" + end, hang, line).same_failure);
}

/// It is the same message, whichever language had started PyTorch.
TEST_F(JudgeRun, AScriptNamesTypesAsPythonDoes) {
  const TemporaryFolder folder;
  const std::string file = folder / "repro.py";
  const auto judged_as = [&](const std::string &raised, const std::string &wanted) {
    const std::string text = "print('eager: 1')\nraise RuntimeError('modified in place: [" + raised + " [1]]')\n";
    std::ofstream(file) << text;
    const Signature signature{FailureKind::Exception, "", normalise_message("modified in place: [" + wanted + " [1]]")};
    return judge_script(run_repro({"python3", "-B", file}, folder.path()), text, signature).same_failure;
  };
  EXPECT_TRUE(judged_as("torch.FloatTensor", "CPUFloatType"));
  EXPECT_TRUE(judged_as("torch.cuda.HalfTensor", "CUDAHalfType"));
  EXPECT_TRUE(judged_as("CPUFloatType", "CPUFloatType"));
  EXPECT_FALSE(judged_as("torch.DoubleTensor", "CPUFloatType"));
  EXPECT_FALSE(judged_as("torch.Tensor", "CPUType"));
}

/// It is said in issue.md, which people paste.
TEST_F(JudgeRun, WhatAScriptEndedWithNamesNoFileOfThisMachine) {
  const TemporaryFolder folder;
  const std::string file = folder / "repro.py";
  for (const int depth : {1, 40}) { // of which the head is lost
    const std::string text =
        std::string("def f(n):\n    if n: f(n - 1)\n    else: raise ValueError('too bad\\n  at /tmp/x.cpp')\n") +
        (depth > 1 ? "g = f\ndef f(n):\n    (lambda m: g(m))(n)\n" : "") + "f(" + std::to_string(depth) +
        ")\nprint(1)\n";
    std::ofstream(file) << text;
    const Verification seen = judge_script(run_repro({"python3", "-B", file}, folder.path()), text, accuracy);
    EXPECT_FALSE(seen.same_failure);
    EXPECT_EQ(seen.message,
              "repro.py never came to its last statement, and ended with exit code 1: ValueError: too bad");
  }
}

/// How a script of this text is judged.
Verification judged_script(const std::string &text, const Signature &wanted) {
  const TemporaryFolder folder;
  std::ofstream(folder / "repro.py") << text;
  return judge_script(run_repro({"python3", "-B", folder / "repro.py"}, folder.path()), text, wanted);
}

TEST_F(JudgeRun, AScriptFailsInItsLastStatement) {
  const std::string fails = "assert False, 'Tensor-likes are not close!'\n";
  const Verification seen = judged_script("print('expected 1')\n" + fails, accuracy);
  EXPECT_TRUE(seen.same_failure) << seen.message;
  EXPECT_EQ(seen.shown, "expected 1\nAssertionError: Tensor-likes are not close!\n");
  EXPECT_TRUE(judged_script("for e in [1]:\n    " + fails, accuracy).same_failure);
  EXPECT_FALSE(judged_script(fails + "print(1)\n", accuracy).same_failure);                   // before its time
  EXPECT_FALSE(judged_script("raise ValueError('AssertionError')\n", accuracy).same_failure); // no assertion
  EXPECT_FALSE(judged_script("print(1)\n", accuracy).same_failure);
  EXPECT_FALSE(judged_script("exit(1)\n", accuracy).same_failure);
  EXPECT_FALSE(judged_script("assert False, \"attribute 'dtype'\"\n", accuracy).same_failure); // another kind
  EXPECT_TRUE(judged_script("assert False, \"attribute 'dtype'\"\n", {FailureKind::Dtype, "output", ""}).same_failure);
}

/// Dynamo's message holds the one of the operator, and names lines of the script too.
TEST_F(JudgeRun, AnExceptionMayBeToldInOtherWords) {
  const Signature wanted{FailureKind::Exception, "", normalise_message("IndexError: tuple index out of range")};
  const std::string begin = "print('eager: 1')\nraise RuntimeError(\"got IndexError('",
                    end = "')\\n  File 'repro.py', line 1, in f\")\n";
  EXPECT_TRUE(judged_script(begin + "tuple index out of range" + end, wanted).same_failure);
  EXPECT_FALSE(judged_script(begin + "list index out of range" + end, wanted).same_failure);
}

TEST_F(JudgeRun, WhatRaisesIsNamedWhereItIsPyTorchs) {
  const TemporaryFolder folder;
  const Signature wanted{FailureKind::Exception, "", normalise_message("IndexError: tuple index out of range")};
  const auto shown_of = [&](const std::string &part) {
    const std::string file = folder / part;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file) << "def f(shape, dim):\n    size = shape[dim]\n";
    return judged_script("space = {}\nexec(compile(open('" + file + "').read(), '" + file +
                             "', 'exec'), space)\nspace['f']((), 0)\n",
                         wanted)
        .shown;
  };
  EXPECT_EQ(shown_of("site-packages/torch/_inductor/a.py"),
            "IndexError: tuple index out of range\n"
            "raised by f in torch/_inductor/a.py, line 2: `size = shape[dim]`\n");
  EXPECT_EQ(shown_of("torch/a.py"), "IndexError: tuple index out of range\n");
}

TEST_F(JudgeRun, ATestFailsAsATestDoes) {
  const TemporaryFolder folder;
  const auto fails = [&](const std::string &statement) {
    std::ofstream(folder / "test_repro.py")
        << "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        " << statement
        << "\nunittest.main()\n";
    return is_failing_test(run_repro({"python3", "-B", folder / "test_repro.py"}, folder.path()), accuracy);
  };
  EXPECT_TRUE(fails("assert False"));
  EXPECT_FALSE(fails("pass"));
  EXPECT_FALSE(fails("no_such_name"));
}

TEST_F(JudgeRun, WhatPrintsWithoutEndIsStopped) {
  const Verification verification = judged("while True: print('x' * 1000000)", accuracy);
  EXPECT_FALSE(verification.same_failure);
  EXPECT_NE(verification.message.find("prints without end"), std::string::npos) << verification.message;
}

// A repro that runs beside other work is not looked at meanwhile.
TEST_F(JudgeRun, WhatPrintsWithoutEndFillsNoDiskBetweenTwoLooks) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const auto process = start_repro({"yes"}, folder.path(), {.none = true}, std::chrono::minutes(5));
  const auto printed = [&] {
    std::error_code none_yet;
    const auto size = std::filesystem::file_size(folder / "printed", none_yet);
    return none_yet ? 0 : size;
  };
  std::uintmax_t before = 0;
  for (int looks = 0; looks < 400 && (before == 0 || printed() > before); ++looks) {
    before = printed();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  EXPECT_LE(printed(), std::uintmax_t{1} << 29);
  EXPECT_FALSE(judge_run(process->wait({}), marker, accuracy).same_failure);
}

} // namespace
} // namespace repro_minify
