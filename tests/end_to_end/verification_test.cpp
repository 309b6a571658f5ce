// "Verified" is said of what was seen, and of nothing else: the whole way from a model to a repro that was built and
// run.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// A script in the place of a program, for what is started from here.
class InPlaceOf {
public:
  InPlaceOf(const std::string &program, const std::string &script) : before_(getenv("PATH")) {
    const fs::path file = folder_ / program;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(file, fs::perms::owner_all);
    setenv("PATH", (folder_.path().string() + ":" + before_).c_str(), 1);
  }
  ~InPlaceOf() { setenv("PATH", before_.c_str(), 1); }
  InPlaceOf(const InPlaceOf &) = delete;
  InPlaceOf &operator=(const InPlaceOf &) = delete;

private:
  const std::string before_;
  const TemporaryFolder folder_;
};

/// A model whose names are keywords and macros of C++: reduced, built, run, verified.
TEST(Verification, NamesThatNoLanguageTakes) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      run_tool({fixtures() / "names" / "failing.pt", "--backend", "freeze", "-o", repro, "--quiet", verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report.at("verified"), true);
  EXPECT_NE(read_text(repro / "report.md").find("repro.cpp was built and run, and fails the same way"),
            std::string::npos);
  EXPECT_EQ(finished.err.find("warning"), std::string::npos) << describe(finished);
  EXPECT_EQ(report.at("after").at("operators"), 2);
  const std::string source = read_text(repro / "repro.cpp");
  for (const char *name : {"new_0", "namespace_operator", "typename_"})
    EXPECT_NE(source.find(name), std::string::npos) << source;
  EXPECT_EQ(source.find("beside("), std::string::npos) << "it is not one file";
}

/// The program that cmake builds exits with 1 and never prints the line REPRODUCED.
TEST(Verification, AProgramThatOnlyExitsWithOneIsNotTheFailure) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Case one = case_named("static_int_div_exc");
  const InPlaceOf cmake("cmake", "while [ $# -gt 0 ]; do\n"
                                 "  case $1 in -B|--build) mkdir -p \"$2\"; build=$2;; esac\n"
                                 "  shift\n"
                                 "done\n"
                                 "printf '#!/bin/sh\\necho FAIL exception: no\\nexit 1\\n' > \"$build/repro\"\n"
                                 "chmod +x \"$build/repro\"\n");
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", repro, verify}));
  EXPECT_EQ(finished.exit_code, 4) << describe(finished);
  EXPECT_NE(finished.err.find("THE REPRO DID NOT VERIFY"), std::string::npos) << describe(finished);
  EXPECT_NE(finished.err.find("REPRODUCED exception "), std::string::npos) << describe(finished);
  EXPECT_EQ(json::parse(read_text(repro / "report.json")).at("verified"), false);
}

/// A machine without CMake still has the Python that the model came from.
TEST(Verification, WithoutCMakeReproPyIsWhatIsVerified) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Case one = case_named("static_int_div_exc");
  const InPlaceOf cmake("cmake", "exit 127");
  const Finished finished = run_tool(one.with_backend(
      {one.model(), "-o", repro, "--python", test_paths::python, "--no-ablation", "--no-bisect", verify}));
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  const char *why = "repro.cpp was not built, as no CMake was found";
  EXPECT_NE(finished.err.find(std::string("repro.py is verified; ") + why), std::string::npos) << describe(finished);
  EXPECT_EQ(json::parse(read_text(repro / "report.json")).at("verified"), true);
  EXPECT_NE(read_text(repro / "report.md").find(why), std::string::npos);
}

/// It builds, runs, and fails: with another message.
TEST(Verification, AnotherExceptionIsNotTheFailure) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Case one = case_named("static_int_div_exc");
  const InPlaceOf cmake("cmake", "while [ $# -gt 0 ]; do\n"
                                 "  case $1 in -S) source=$2;; -B|--build) mkdir -p \"$2\"; build=$2;; esac\n"
                                 "  shift\n"
                                 "done\n"
                                 "[ -z \"$source\" ] || sed -n 's/.*\\(REPRODUCED exception [0-9a-f]*\\).*/\\1/p' "
                                 "\"$source/repro.cpp\" > \"$build/marker\"\n"
                                 "printf '#!/bin/sh\\necho FAIL exception: another one\\ncat %s\\nexit 1\\n' "
                                 "\"$build/marker\" > \"$build/repro\"\n"
                                 "chmod +x \"$build/repro\"\n");
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", repro, verify}));
  EXPECT_EQ(finished.exit_code, 4) << describe(finished);
  EXPECT_NE(finished.err.find("another exception: another one"), std::string::npos) << describe(finished);
}

/// repro.py is run by the Python that is named, and by no other.
TEST(Verification, IsOfThePythonThatIsNamed) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const InPlaceOf cmake("cmake", "exit 1\n");
  const Case one = case_named("freeze_linear_bn_3d");
  const Finished finished =
      run_tool(one.with_backend({one.model(), "-o", repro, "--no-bisect", "--python", "/bin/false", verify}));
  EXPECT_EQ(finished.exit_code, 4) << describe(finished);
  const json script = json::parse(read_text(repro / "report.json")).at("repro_py");
  EXPECT_EQ(script.at("verification"), "there is no Python with torch to run it");
  EXPECT_TRUE(script.at("verified").is_null());
  EXPECT_TRUE(fs::exists(repro / "repro.py"));
}

/// The first of these tests that verifies has made them, in the tests' own cache under ctest.
TEST(Verification, UsesPrecompiledHeaders) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const Case one = case_named("static_int_div_exc");
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", folder / "x.repro", "--verbose", verify}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_NE(finished.err.find(" with precompiled headers"), std::string::npos) << describe(finished);
}

/// A repro that the quickest compiler cannot build is built by the one that CMake chooses.
TEST(Verification, GoesOnWithTheUsualCompiler) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path broken = folder / "clang++";
  std::ofstream(broken) << "#!/bin/sh\n[ \"$1\" = --version ] && echo 'clang version 15.0.0' && exit\nexit 1\n";
  fs::permissions(broken, fs::perms::owner_all);
  const Case one = case_named("static_int_div_exc");
  const std::string path = getenv("PATH");
  setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", folder / "x.repro", "--verbose", verify}));
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_NE(finished.err.find("repro.cpp was built with"), std::string::npos) << describe(finished); // none named
}

/// Nothing can be kept: verified all the same.
TEST(Verification, NeedsNoCache) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const Case one = case_named("static_int_div_exc");
  const char *before = getenv("XDG_CACHE_HOME");
  const std::string cache = before ? before : "";
  setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", folder / "x.repro", "--verbose", verify}));
  before ? setenv("XDG_CACHE_HOME", cache.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_NE(finished.err.find(" without precompiled headers"), std::string::npos) << describe(finished);
  EXPECT_EQ(json::parse(read_text(folder / "x.repro" / "report.json")).at("verified"), true);
}

} // namespace
} // namespace repro_minify::end_to_end
