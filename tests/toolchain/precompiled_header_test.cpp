// A precompiled header is used while everything that it was made of is as it was, and made again when it is not.
#include "toolchain/precompiled_header.h"

#include "header_folder.h"

#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

using PrecompiledHeaders = WithHeaderFolder;

/// Whether GCC, told so by CPATH, takes it.
bool is_taken(const fs::path &folder, const fs::path &include, const fs::path &work) {
  std::ofstream(work / "x.cpp") << "#include <some/header.h>\nint main() { return answer(); }\n";
  const std::string command = "CPATH=" + folder.string() + " g++ -H -isystem " + include.string() + " -c " +
                              (work / "x.cpp").string() + " -o " + (work / "x.o").string() + " 2>" +
                              (work / "said").string();
  const int status = std::system(command.c_str());
  std::ifstream said(work / "said");
  const std::string text((std::istreambuf_iterator<char>(said)), {});
  return status == 0 && text.find("! " + (folder / "some" / "header.h.gch").string()) != std::string::npos;
}

TEST_F(PrecompiledHeaders, AreMadeOnceAndTaken) {
  EXPECT_FALSE(knows_any_header());
  EXPECT_TRUE(header().is_wanted());
  EXPECT_EQ(header().folder(), "");
  ASSERT_TRUE(header().make());
  EXPECT_TRUE(knows_any_header());
  EXPECT_FALSE(header().is_wanted());
  const fs::path folder = header().folder();
  EXPECT_TRUE(is_taken(folder, include(), temporary_.path()));
  EXPECT_EQ(names(), std::set<std::string>{folder.filename()});
  const auto made = fs::last_write_time(folder / "some" / "header.h.gch");
  EXPECT_TRUE(header().make());
  EXPECT_EQ(fs::last_write_time(folder / "some" / "header.h.gch"), made);
}

TEST_F(PrecompiledHeaders, OtherFlagsHaveAnother) {
  ASSERT_TRUE(header().make());
  EXPECT_EQ(header({"-O1"}).folder(), "");
  ASSERT_TRUE(header({"-O1"}).make());
  EXPECT_NE(header({"-O1"}).folder(), header().folder());
  EXPECT_EQ(names().size(), 2u);
}

TEST_F(PrecompiledHeaders, OtherHeadersOfTheSamePathHaveAnother) {
  ASSERT_TRUE(header().make());
  write_header("inline int answer() { return 43; } // another LibTorch in the same place\n");
  EXPECT_EQ(header().folder(), "");
  EXPECT_TRUE(header().is_wanted());
  ASSERT_TRUE(header().make());
  EXPECT_NE(header().folder(), "");
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(PrecompiledHeaders, ADamagedOneIsMadeAgain) {
  ASSERT_TRUE(header().make());
  const fs::path folder = header().folder(), file = folder / "some" / "header.h.gch";
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(header().folder(), "");
  ASSERT_TRUE(header().make());
  EXPECT_TRUE(is_taken(header().folder(), include(), temporary_.path()));
}

/// Of the same size, with the time of the one that was there.
TEST_F(PrecompiledHeaders, APlantedOneIsNotTaken) {
  ASSERT_TRUE(header().make());
  const fs::path file = header().folder() / "some" / "header.h.gch";
  const auto time = fs::last_write_time(file);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(100).put('x');
  fs::last_write_time(file, time);
  EXPECT_EQ(header().folder(), "");
}

TEST_F(PrecompiledHeaders, OneThatOthersMayWriteIsNotTaken) {
  ASSERT_TRUE(header().make());
  const fs::path folder = header().folder();
  fs::permissions(folder, fs::perms::all);
  EXPECT_EQ(header().folder(), "");
}

TEST_F(PrecompiledHeaders, WhatCannotBeMadeIsNotTriedAgainToday) {
  write_header("#error no\n");
  EXPECT_FALSE(header().make());
  EXPECT_FALSE(header().is_wanted());
  EXPECT_TRUE(knows_any_header());
  ASSERT_EQ(names().size(), 1u);
  const fs::path mark = header_cache_folder() / *names().begin();
  EXPECT_TRUE(mark.string().ends_with(".none"));
  fs::last_write_time(mark, fs::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_TRUE(header().is_wanted());
}

TEST_F(PrecompiledHeaders, WhatNothingCouldBeBuiltWithIsForgottenForADay) {
  ASSERT_TRUE(header().make());
  header().discard();
  EXPECT_EQ(header().folder(), "");
  EXPECT_FALSE(header().is_wanted());
}

TEST_F(PrecompiledHeaders, TwoProcessesMakeOne) {
  write_header("#include <map>\n#include <regex>\n#include <iostream>\ninline int answer() { return 42; }\n");
  std::vector<pid_t> makers;
  for (int i = 0; i < 4; ++i)
    if (makers.push_back(fork()); makers.back() == 0)
      _exit(header().make() ? 0 : 1);
  int made = 0;
  for (const pid_t maker : makers) {
    int status = 0;
    waitpid(maker, &status, 0);
    made += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  EXPECT_GE(made, 1);
  EXPECT_NE(header().folder(), "");
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(PrecompiledHeaders, AKilledMakerLeavesNothingThatStays) {
  write_header("#include <map>\n#include <regex>\n#include <iostream>\ninline int answer() { return 42; }\n");
  const pid_t maker = fork();
  if (maker == 0) {
    header().make();
    _exit(0);
  }
  for (int i = 0; i < 1000 && (!fs::exists(header_cache_folder()) || names().empty()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(maker, SIGKILL);
  waitpid(maker, nullptr, 0);
  EXPECT_EQ(header().folder(), "");
  for (int i = 0; i < 1000 && !names().empty(); ++i) { // the compiler is being killed
    remove_half_made_headers();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_F(PrecompiledHeaders, NothingIsMadeWhereTheCacheCannotBeWritten) {
  std::ofstream(temporary_ / "cache") << "a file";
  EXPECT_EQ(header_cache_folder(), "");
  EXPECT_FALSE(header().is_wanted());
  EXPECT_FALSE(header().make());
  EXPECT_EQ(header().folder(), "");
}

TEST_F(PrecompiledHeaders, NothingIsMadeWhereNoneAreWanted) {
  setenv("REPRO_MINIFY_PRECOMPILED_HEADERS", "off", 1);
  EXPECT_FALSE(header().is_wanted());
  EXPECT_FALSE(header().make());
  unsetenv("REPRO_MINIFY_PRECOMPILED_HEADERS");
}

/// CPATH is the user's: what it says stays.
TEST_F(PrecompiledHeaders, ComeBeforeTheUsersOwnPath) {
  unsetenv("CPATH");
  EXPECT_EQ(with_cpath("/x"), "/x");
  setenv("CPATH", "/y:/z", 1);
  EXPECT_EQ(with_cpath("/x"), "/x:/y:/z");
  unsetenv("CPATH");
}

} // namespace
} // namespace repro_minify
