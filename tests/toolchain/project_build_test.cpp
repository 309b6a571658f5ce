// A project is built with its first header precompiled where that is kept, and without wherever that does not work.
#include "toolchain/project_build.h"

#include "header_folder.h"
#include "support/read_file.h"
#include "toolchain/compile_command.h"
#include "toolchain/compiler.h"

#include <chrono>
#include <thread>

#include <sys/wait.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

class ProjectBuilds : public WithHeaderFolder {
protected:
  void SetUp() override {
    WithHeaderFolder::SetUp();
    if (find_program("cmake").empty())
      GTEST_SKIP() << "no CMake";
    write_project("return answer();");
  }

  /// Who makes a header in the background becomes a child of this process, as a sandbox has been run in it.
  void TearDown() override {
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    WithHeaderFolder::TearDown();
  }

  /// -H says on standard error which headers are read, and `!` which of them precompiled.
  void write_project(const std::string &body) const {
    fs::create_directories(source());
    std::ofstream(source() / "CMakeLists.txt")
        << "cmake_minimum_required(VERSION 3.18)\nproject(x LANGUAGES CXX)\nadd_executable(x x.cpp)\n"
        << "target_include_directories(x SYSTEM PRIVATE \"" << include().string() << "\")\n"
        << "target_compile_options(x PRIVATE -H)\n";
    std::ofstream(source() / "x.cpp") << "#include <some/header.h>\nint main() { " << body << " }\n";
  }
  fs::path source() const { return temporary_ / "source"; }
  fs::path built() const { return temporary_ / "build"; }

  ProjectBuild project() const { return {source(), built(), {"-DCMAKE_CXX_COMPILER=" + compiler_}, "some/header.h"}; }
  /// Builds the project and returns what the compiler says; empty if it could not be built.
  std::string build() const {
    fs::remove_all(built());
    ProjectBuild project = this->project();
    project.start();
    const JobEnd job_end = project.finish({});
    EXPECT_EQ(job_end.ending, Ending::Exited);
    return job_end.exit_code == 0 && fs::exists(built() / "x") ? job_end.output_tail : "";
  }
  PrecompiledHeader header_of_project() const { return {"some/header.h", compile_command_of(built())}; }
  bool is_with(const std::string &said) const {
    return compiler_ == "g++" ? said.find(".gch\n") != std::string::npos
                              : said.find("some/header.h\n") == std::string::npos;
  }
};

TEST_F(ProjectBuilds, UseWhatIsKept) {
  const std::string first = build();
  EXPECT_FALSE(first.empty());
  EXPECT_FALSE(is_with(first)) << first;
  ASSERT_TRUE(header_of_project().make());
  const std::string second = build();
  EXPECT_TRUE(is_with(second)) << second;
}

TEST_F(ProjectBuilds, UseWhatIsKeptByClang) {
  if (find_quick_compiler().empty())
    GTEST_SKIP() << "no Clang, or $CXX names another";
  compiler_ = find_quick_compiler();
  const std::string first = build();
  EXPECT_FALSE(first.empty());
  EXPECT_FALSE(is_with(first)) << first;
  ASSERT_TRUE(header_of_project().make());
  const std::string second = build();
  EXPECT_FALSE(second.empty());
  EXPECT_TRUE(is_with(second)) << second;
}

TEST_F(ProjectBuilds, HaveItMadeForTheNext) {
  ProjectBuild project = this->project();
  ASSERT_EQ(project.finish({}).exit_code, 0);
  EXPECT_FALSE(project.had_precompiled());
  project.precompile_for_the_next();
  if (!header_of_project().is_wanted() && !project.had_precompiled())
    GTEST_FAIL() << "it could not be made";
  for (int i = 0; i < 600 && !project.had_precompiled(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (!project.had_precompiled() && names().empty())
    GTEST_SKIP() << "too little memory or disk";
  EXPECT_TRUE(project.had_precompiled());
}

/// Nothing precompiled can be taken a second time: then it is the header itself that is read.
TEST_F(ProjectBuilds, MayIncludeItTwice) {
  std::ofstream(include() / "other.h") << "#include <some/header.h>\n";
  write_header("#pragma once\ninline int answer() { return 42; }\n");
  write_project("return answer(); }\n#include <other.h>\n#include <some/header.h>\nint other() { return answer();");
  ASSERT_FALSE(build().empty());
  ASSERT_TRUE(header_of_project().make());
  const std::string said = build();
  EXPECT_TRUE(is_with(said)) << said;
}

/// The compiler itself has no use for it.
TEST_F(ProjectBuilds, DoWithoutWhatNothingCanBeBuiltWith) {
  ASSERT_FALSE(build().empty());
  ASSERT_TRUE(header_of_project().make());
  write_project("return another();");
  ProjectBuild project = this->project();
  EXPECT_NE(project.finish({}).exit_code, 0);
  EXPECT_TRUE(project.leave_out_precompiled());
  const JobEnd without = project.finish({});
  EXPECT_NE(without.exit_code, 0);
  EXPECT_FALSE(is_with(without.output_tail));
  EXPECT_FALSE(project.leave_out_precompiled()); // there is nothing left to leave out
}

TEST_F(ProjectBuilds, DoWithoutACache) {
  std::ofstream(temporary_ / "cache") << "a file";
  EXPECT_FALSE(build().empty());
}

TEST_F(ProjectBuilds, SayThatThereIsNoCMake) {
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  ProjectBuild project = this->project();
  EXPECT_EQ(project.finish({}).exit_code, 127);
  setenv("PATH", path.c_str(), 1);
}

TEST_F(ProjectBuilds, AreCancelledWhenInterrupted) {
  ProjectBuild project = this->project();
  EXPECT_EQ(project.finish([] { return true; }).ending, Ending::Cancelled);
}

} // namespace
} // namespace repro_minify
