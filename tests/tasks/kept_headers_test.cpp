// A precompiled header is used while everything that it was made of is as it was, and made again when it is not.
#include "tasks/project_build.h"

#include "header_folder.h"

#include <chrono>
#include <set>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

class KeptHeaders : public WithHeaderFolder, public testing::WithParamInterface<const char *> {
protected:
  KeptHeaders() { compiler_ = GetParam(); }
  bool is_clang() const { return compiler_ == "clang++"; }

  static std::vector<fs::path> folders() {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(kept_headers_folder()))
      found.push_back(entry.path());
    return found;
  }
  fs::path made() const { return folders().at(0) / "include/some" / (is_clang() ? "header.h.pch" : "header.h.gch"); }

  /// True if the compiler, told so by the environment, takes the precompiled header. -H names what is read: GCC what is
  /// precompiled too, Clang the headers that it reads instead.
  bool is_taken() const {
    const auto variable = header().make();
    if (!variable)
      return false;
    const fs::path source = temporary_ / "x.cpp", said = temporary_ / "said";
    std::ofstream(source) << "#include <some/header.h>\nint main() { return answer(); }\n";
    const std::string command = variable->first + "='" + variable->second + "' " + compiler_ + " -H -isystem " +
                                include().string() + " -c " + source.string() + " -o " + (temporary_ / "x.o").string() +
                                " 2>" + said.string();
    const int status = std::system(command.c_str());
    std::ifstream stream(said);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    return status == 0 && (is_clang() ? text.find("some/header.h\n") == std::string::npos
                                      : text.find("! " + made().string()) != std::string::npos);
  }
};

INSTANTIATE_TEST_SUITE_P(Of, KeptHeaders, testing::Values("g++", "clang++"),
                         [](const auto &info) { return info.param == std::string("g++") ? "Gcc" : "Clang"; });

TEST_P(KeptHeaders, AreMadeOnceAndTaken) {
  EXPECT_FALSE(keeps_any_header());
  EXPECT_FALSE(header().is_there());
  ASSERT_TRUE(header().make());
  EXPECT_TRUE(header().is_there() && keeps_any_header());
  const auto time = fs::last_write_time(made());
  EXPECT_TRUE(is_taken());
  EXPECT_EQ(fs::last_write_time(made()), time);
}

TEST_P(KeptHeaders, OtherFlagsHaveAnother) {
  ASSERT_TRUE(header().make());
  EXPECT_FALSE(header({"-O1"}).is_there());
  ASSERT_TRUE(header({"-O1"}).make());
  EXPECT_EQ(folders().size(), 2u);
}

TEST_P(KeptHeaders, AChangedHeaderIsAnother) {
  ASSERT_TRUE(header().make());
  write_header("inline int answer() { return other(); }\n");
  EXPECT_FALSE(header().make()); // it is made anew, and cannot be
  write_header("#include <some/part.h>\n");
  std::ofstream(include() / "some" / "part.h") << "inline int answer() { return 43; }\n";
  ASSERT_TRUE(header().make());
}

TEST_P(KeptHeaders, AChangedPartIsSeenByNinja) {
  const fs::path part = include() / "some" / "part.h";
  std::ofstream(part) << "inline int answer() { return 42; }\n";
  write_header("#include <some/part.h>\n");
  ASSERT_TRUE(header().make());
  std::ofstream(part) << "inline int another() { return 43; } // longer\n";
  fs::last_write_time(part, fs::last_write_time(made()) + std::chrono::seconds(1));
  ASSERT_TRUE(header().make());
  std::ofstream(part) << "inline int answer() { return 44; }\n"; // what was made holds no answer(), were it taken now
  fs::last_write_time(part, fs::last_write_time(made()) + std::chrono::seconds(2));
  EXPECT_TRUE(is_taken());
  EXPECT_EQ(folders().size(), 1u);
}

TEST_P(KeptHeaders, WhatCannotBeMadeIsNotTriedAgainToday) {
  write_header("#error no\n");
  EXPECT_FALSE(header().make());
  const fs::path mark = folders().at(0) / "left-out";
  ASSERT_TRUE(fs::exists(mark));
  const auto time = fs::last_write_time(mark);
  EXPECT_FALSE(header().make());
  EXPECT_EQ(fs::last_write_time(mark), time);
  fs::last_write_time(mark, fs::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_FALSE(header().make());
  EXPECT_GT(fs::last_write_time(mark), time);
}

TEST_P(KeptHeaders, WhatNothingCouldBeBuiltWithIsLeftOut) {
  ASSERT_TRUE(header().make());
  header().leave_out();
  EXPECT_FALSE(header().is_there());
  EXPECT_FALSE(header().make());
}

TEST_P(KeptHeaders, SeveralProcessesMakeOne) {
  write_header("#include <map>\n#include <regex>\n#include <iostream>\ninline int answer() { return 42; }\n");
  std::vector<pid_t> makers;
  for (int i = 0; i < 4; ++i)
    if (makers.push_back(fork()); makers.back() == 0)
      _exit(header().make() ? 0 : 1);
  for (const pid_t maker : makers) {
    int status = 0;
    waitpid(maker, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_TRUE(is_taken());
  EXPECT_EQ(folders().size(), 1u);
}

TEST_P(KeptHeaders, AKilledMakerIsFollowedByAnother) {
  write_header("#include <map>\n#include <regex>\n#include <iostream>\ninline int answer() { return 42; }\n");
  const pid_t maker = fork();
  if (maker == 0) {
    header().make();
    _exit(0);
  }
  for (int i = 0; i < 1000 && !keeps_any_header(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(maker, SIGKILL);
  waitpid(maker, nullptr, 0);
  EXPECT_TRUE(is_taken());
  while (waitpid(-1, nullptr, 0) > 0) { // its compiler, where this process has run checks and takes in orphans
  }
}

TEST_P(KeptHeaders, NothingIsMadeWhereTheCacheCannotBeWritten) {
  std::ofstream(temporary_ / "cache") << "a file";
  EXPECT_EQ(kept_headers_folder(), "");
  EXPECT_FALSE(header().make());
}

TEST_P(KeptHeaders, NothingIsMadeWhereNoneAreWanted) {
  setenv("REPRO_MINIFY_PRECOMPILED_HEADERS", "off", 1);
  EXPECT_FALSE(header().make());
  unsetenv("REPRO_MINIFY_PRECOMPILED_HEADERS");
}

/// The user's own values of the variables stay.
TEST_P(KeptHeaders, AreAddedToWhatTheUserSays) {
  const std::string name = is_clang() ? "CCC_OVERRIDE_OPTIONS" : "CPATH", other = is_clang() ? "# +-DX" : "/y:/z";
  setenv(name.c_str(), other.c_str(), 1);
  const auto variable = header().make();
  unsetenv(name.c_str());
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->first, name);
  EXPECT_NE(variable->second.find(other), std::string::npos) << variable->second;
  EXPECT_NE(variable->second.find(kept_headers_folder().string()), std::string::npos) << variable->second;
}

} // namespace
} // namespace repro_minify
