// Tests of how a repro that is built and run is judged, with a CMake that builds what a test wants it to.
#include "all_tests.h"
#include "core/files.h"
#include "repro/script_run.h"
#include "repro/small_program.h"
#include "repro/verifiers.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;
using testing_support::facts_of;
using testing_support::small_program;

const Signature wanted{FailureKind::Accuracy, "output", ""};
constexpr const char *its_marker = "REPRODUCED accuracy 12345678";
/// Shell commands that print what a repro prints when it sees the failure.
constexpr const char *shows_it = "echo FAIL accuracy: off by 7; echo REPRODUCED accuracy 12345678; exit 1";

/// First on PATH while it lives.
class CMakeThat {
public:
  /// `deed` is done by --build, with the folder as $2.
  explicit CMakeThat(const std::string &deed) : path_(getenv("PATH")) {
    const fs::path cmake = folder_ / "cmake";
    std::ofstream(cmake) << "#!/bin/sh\n[ \"$1\" = --build ] || exit 0\nmkdir -p \"$2\"\n" << deed << "\n";
    fs::permissions(cmake, fs::perms::owner_all);
    setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  ~CMakeThat() { setenv("PATH", path_.c_str(), 1); }
  CMakeThat(const CMakeThat &) = delete;
  CMakeThat &operator=(const CMakeThat &) = delete;

private:
  const std::string path_;
  const TemporaryFolder folder_;
};

/// A CMake whose repro is a script.
std::string that_builds(const std::string &repro) {
  return "printf '#!/bin/sh\\n" + repro + "\\n' > \"$2/repro\"\nchmod +x \"$2/repro\"";
}

Verification verification(VerifyOptions options = {}, bool configured = false) {
  const TemporaryFolder folder;
  std::ofstream(folder / "repro.cpp") << "#include <torch/script.h>\nint main() {}\n";
  std::ofstream(folder / "CMakeLists.txt") << "project(x)\n";
  options.confinement.none = true;
  ReproVerifier verifier;
  if (configured)
    verifier.configure(*make_backend("jit"), /*has_operators=*/false);
  return verifier.verify(folder.path(), its_marker, wanted, options);
}

TEST(ReproVerifier, BelievesTheMarkerOnly) {
  {
    const CMakeThat cmake(that_builds(shows_it));
    for (const bool configured : {false, true}) {
      const Verification right = verification({}, configured);
      EXPECT_TRUE(right.same_failure) << right.message;
    }
  }
  const CMakeThat cmake(that_builds("echo something else; exit 1"));
  const Verification wrong = verification();
  EXPECT_FALSE(wrong.same_failure);
  EXPECT_FALSE(wrong.message.empty());
}

TEST(ReproVerifier, SaysWhatTheCompilerSays) {
  const CMakeThat cmake("echo 'repro.cpp:1: error: no such thing' >&2; exit 1");
  const Verification wrong = verification();
  EXPECT_FALSE(wrong.same_failure);
  EXPECT_NE(wrong.message.find("repro.cpp does not build: "), std::string::npos) << wrong.message;
  EXPECT_NE(wrong.message.find("no such thing"), std::string::npos) << wrong.message;
}

TEST(ReproVerifier, TellsTheMachineFromTheRepro) {
  const CMakeThat cmake("echo 'fatal error: No space left on device' >&2; exit 1");
  const Verification unknown = verification();
  EXPECT_FALSE(unknown.same_failure);
  EXPECT_NE(unknown.message.find("says nothing of it"), std::string::npos) << unknown.message;
}

TEST(ReproVerifier, TakesTheUsualCompilerWhereTheQuickOneDoesNotShowIt) {
  const CMakeThat cmake("case $2 in */build) text='" + std::string(shows_it) +
                        "';; *) text='exit 0';; esac\n"
                        "printf '#!/bin/sh\\n%s\\n' \"$text\" > \"$2/repro\"\nchmod +x \"$2/repro\"");
  VerifyOptions options;
  options.any_compiler = true;
  int called = 0;
  options.meanwhile = [&] {
    ++called;
    return false;
  };
  const Verification right = verification(options);
  EXPECT_TRUE(right.same_failure) << right.message;
  EXPECT_EQ(right.compiler, "");
  EXPECT_EQ(called, 1);
}

TEST(ReproVerifier, RunsItAsOftenAsItTakes) {
  const TemporaryFolder counted;
  const std::string runs = counted / "runs";
  const CMakeThat cmake(
      that_builds("echo x >> " + runs + "; [ $(wc -l < " + runs + ") -lt 3 ] && exit 0; " + shows_it));
  VerifyOptions options;
  options.repetition = {5, 2};
  const Verification right = verification(options);
  EXPECT_TRUE(right.same_failure) << right.message;
  EXPECT_EQ(read_file(runs), "x\nx\nx\nx\n");
}

TEST(ReproVerifier, IsNotTakenInByOneMoreRunOfAScriptThatDidNotFail) {
  const CMakeThat cmake(that_builds("exec python3 \"$(dirname \"$0\")/../repro.py\""));
  for (const bool script_failed : {true, false}) {
    const TemporaryFolder folder;
    std::ofstream(folder / "repro.cpp") << "int main() {}\n";
    std::ofstream(folder / "CMakeLists.txt") << "project(x)\n";
    std::ofstream(folder / "repro.py") << "value = 1\nassert value == 2\n";
    VerifyOptions options;
    options.confinement.none = true;
    options.python = "python3";
    options.meanwhile = [&] { return script_failed; };
    const Verification found = ReproVerifier().verify(folder.path(), its_marker, wanted, options);
    EXPECT_EQ(found.same_failure, script_failed) << found.message;
    EXPECT_EQ(found.message.starts_with("repro.py: it does not show the failure"), !script_failed) << found.message;
  }
}

TEST(VerifyRepeatedly, SaysHowOftenItFailed) {
  int runs = 0;
  const auto run = [&] {
    ++runs;
    ReproRun ended;
    ended.job_end.ending = Ending::Exited;
    return ended;
  };
  const auto judge = [&](const ReproRun &) { return Verification{runs == 2, "of run " + std::to_string(runs)}; };
  const Verification seldom = verify_repeatedly(run, judge, {3, 2}, {});
  EXPECT_FALSE(seldom.same_failure);
  EXPECT_EQ(seldom.message, "repro failed in 1 of 3 runs; of the last: of run 3");
  runs = 0;
  EXPECT_TRUE(verify_repeatedly(run, judge, {3, 1}, {}).same_failure);
  EXPECT_EQ(runs, 2) << "one is enough";
}

TEST(ScriptVerifier, KeepsNothingThatDoesNotFail) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  const Program program = small_program();
  const ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  std::ofstream(folder / "repro.py") << "# of an earlier run\n";
  ScriptVerifier verifier(folder.path(), test_paths::python);
  verifier.begin(program, facts);
  const ScriptVerification ended = verifier.finish();
  EXPECT_EQ(ended.verified, std::optional(false));
  EXPECT_FALSE(ended.message.empty());
  EXPECT_FALSE(fs::exists(folder / "repro.py"));
}

TEST(ScriptVerifier, KeepsAScriptThatCannotBeRunHere) {
  const TemporaryFolder folder;
  const Program program = small_program();
  const ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  ScriptVerifier verifier(folder.path(), "");
  verifier.begin(program, facts);
  const ScriptVerification ended = verifier.finish();
  EXPECT_FALSE(ended.verified.has_value());
  EXPECT_EQ(ended.message, "there is no Python with torch to run it");
  EXPECT_GT(ended.lines, 0);
  EXPECT_NE(read_file(folder / "repro.py").find("import torch"), std::string::npos);
}

TEST(ScriptVerifier, SaysWhyThereIsNone) {
  const TemporaryFolder folder;
  const Program program = small_program();
  const ReproFacts facts = facts_of(FailureKind::Accuracy, false, false, "inductor-like");
  ScriptVerifier verifier(folder.path(), test_paths::python);
  verifier.begin(program, facts);
  const ScriptVerification ended = verifier.finish();
  EXPECT_FALSE(ended.verified.has_value());
  EXPECT_TRUE(ended.message.starts_with("Python does not reach ")) << ended.message;
  EXPECT_FALSE(fs::exists(folder / "repro.py"));
}

TEST(ScriptVerifier, IsInterrupted) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  const Program program = small_program();
  const ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  ScriptVerifier verifier(folder.path(), test_paths::python);
  verifier.begin(program, facts);
  const ScriptVerification ended = verifier.finish([] { return true; });
  EXPECT_FALSE(ended.verified.has_value());
  EXPECT_EQ(ended.message, "it was cut short");
}

} // namespace
} // namespace repro_minify
