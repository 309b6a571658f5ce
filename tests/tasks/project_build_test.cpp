// A project is built with its first header precompiled where that is kept, and without wherever that does not work.
#include "tasks/project_build.h"

#include "core/files.h"
#include "header_folder.h"
#include "tasks/compiler.h"

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
  bool is_with(const std::string &said) const {
    return compiler_ == "g++" ? said.find(".gch\n") != std::string::npos
                              : said.find("some/header.h\n") == std::string::npos;
  }
};

TEST_F(ProjectBuilds, KeepTheHeader) {
  const std::string first = build(), second = build();
  EXPECT_TRUE(is_with(first)) << first;
  EXPECT_TRUE(is_with(second)) << second;
}

TEST_F(ProjectBuilds, KeepTheHeaderByClang) {
  if (find_quick_compiler().empty())
    GTEST_SKIP() << "no Clang, or $CXX names another";
  compiler_ = find_quick_compiler();
  for (const std::string &said : {build(), build()}) {
    EXPECT_FALSE(said.empty());
    EXPECT_TRUE(is_with(said)) << said;
  }
}

/// Nothing precompiled can be taken a second time: then it is the header itself that is read.
TEST_F(ProjectBuilds, MayIncludeItTwice) {
  std::ofstream(include() / "other.h") << "#include <some/header.h>\n";
  write_header("#pragma once\ninline int answer() { return 42; }\n");
  write_project("return answer(); }\n#include <other.h>\n#include <some/header.h>\nint other() { return answer();");
  const std::string said = build();
  EXPECT_TRUE(is_with(said)) << said;
}

/// The compiler itself has no use for it.
TEST_F(ProjectBuilds, DoWithoutWhatNothingCanBeBuiltWith) {
  write_project("return another();");
  ProjectBuild project = this->project();
  EXPECT_NE(project.finish({}).exit_code, 0);
  EXPECT_TRUE(project.leave_out_precompiled());
  const JobEnd without = project.finish({});
  EXPECT_NE(without.exit_code, 0);
  EXPECT_FALSE(is_with(without.output_tail));
  EXPECT_FALSE(project.leave_out_precompiled()); // there is nothing left to leave out
}

TEST_F(ProjectBuilds, ForgetWhatTheyCannotBeBuiltWith) {
  ASSERT_TRUE(is_with(build()));
  ProjectBuild project = this->project();
  ASSERT_EQ(project.finish({}).exit_code, 0);
  ASSERT_TRUE(project.leave_out_precompiled()); // as if it had failed
  ASSERT_EQ(project.finish({}).exit_code, 0);
  project.forget_precompiled();
  const std::string said = build();
  EXPECT_FALSE(said.empty());
  EXPECT_FALSE(is_with(said)) << said;
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
