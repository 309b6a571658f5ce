// --oracle: a program of the user's own instead of a backend.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path script(const TemporaryFolder &folder, const std::string &body) {
  const fs::path path = folder / "interesting.sh";
  std::ofstream(path) << "#!/bin/sh\n" << body << '\n';
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

/// Interesting is what our own check finds failing under this backend.
std::string asks_backend(const std::string &backend) {
  return std::string(test_paths::program) + " run \"$1\" -q --backend " + backend +
         " > /dev/null 2>&1\ncase $? in 1) exit 0;; 0) exit 1;; *) exit 125;; esac";
}

TEST(Oracle, ReducesAsTheBackendItselfDoes) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("freeze_conv_mul_double_dtype");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      run_tool({one.model(), "--oracle", script(folder, asks_backend("freeze")), "-o", repro, "--quiet", verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(finished.out, (repro / "reduced.pt").string() + "\n");
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_LE(report["after"]["operators"], one.operators_at_most);
  EXPECT_EQ(report["verdict"]["kind"], "interesting");
  EXPECT_TRUE(report["verified"]);
  EXPECT_FALSE(fs::exists(repro / "repro.cpp"));
  EXPECT_FALSE(fs::exists(repro / "candidates"));
  const Finished again = run_tool(one.with_backend({"run", repro / "reduced.pt", "--inputs", repro / "inputs.pt"}));
  EXPECT_EQ(again.exit_code, 1) << describe(again);
}

Finished reduce_with(const TemporaryFolder &folder, const std::string &body, const std::string &extra = "--quiet") {
  const Case one = case_named("static_int_div_exc");
  return run_tool({one.model(), "--oracle", script(folder, body), "-o", folder / "x.repro", extra});
}

TEST(Oracle, ThatAcceptsEverythingIsToldSo) {
  const TemporaryFolder folder;
  const Finished finished = reduce_with(folder, "exit 0");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("accepts everything"), std::string::npos) << describe(finished);
}

TEST(Oracle, ThatChangesItsMindIsToldSo) {
  const TemporaryFolder folder;
  // Interesting the first time only.
  const Finished finished = reduce_with(folder, "test -e " + (folder / "asked").string() + " && exit 1\ntouch " +
                                                    (folder / "asked").string());
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_NE(finished.err.find("changes its mind"), std::string::npos) << describe(finished);
}

TEST(Oracle, ThatFindsTheModelBoringEndsWithOne) {
  const TemporaryFolder folder;
  const Finished finished = reduce_with(folder, "exit 1");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(finished.err.find("is not interesting"), std::string::npos) << describe(finished);
  EXPECT_FALSE(fs::exists(folder / "x.repro"));
}

TEST(Oracle, ThatCannotRunIsBadInput) {
  const TemporaryFolder folder;
  const Case one = case_named("static_int_div_exc");
  EXPECT_EQ(run_tool({one.model(), "--oracle", folder / "absent.sh"}).exit_code, 2);
  std::ofstream(folder / "plain.txt") << "hello";
  const Finished finished = run_tool({one.model(), "--oracle", folder / "plain.txt"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("chmod +x"), std::string::npos) << describe(finished);
  EXPECT_EQ(run_tool({one.model(), "--oracle", folder / "plain.txt", "--backend", "jit"}).exit_code, 2);
}

/// 101 is kept, 125 is neither yes nor no, and both are no steps forward.
TEST(Oracle, KeepsAsideWhatIsAlsoInteresting) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "asked");
  const std::string asked = (folder / "asked").string();
  // The first candidate is the empty program, the second the model as one flat program.
  const Finished finished =
      reduce_with(folder,
                  "test \"$1\" = '" + case_named("static_int_div_exc").model().string() +
                      "' && exit 0\ncase \"$1\" in */reduced.pt) exit 0;; esac\nn=$(ls " + asked + " | wc -l)\ntouch " +
                      asked + "/$n\ncase $n in 0) exit 1;; 1) exit 0;; 2|3) exit 101;; *) exit 125;; esac",
                  "--jobs=1");
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  ASSERT_TRUE(fs::exists(folder / "x.repro" / "also-interesting")) << describe(finished);
  int kept = 0;
  for (const auto &entry : fs::directory_iterator(folder / "x.repro" / "also-interesting")) {
    ++kept;
    EXPECT_TRUE(fs::exists(entry.path() / "candidate.pt"));
    EXPECT_TRUE(fs::exists(entry.path() / "inputs.pt"));
  }
  EXPECT_EQ(kept, 2);
}

} // namespace
} // namespace repro_minify::end_to_end
