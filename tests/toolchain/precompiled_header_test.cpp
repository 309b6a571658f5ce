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

class PrecompiledHeaders : public WithHeaderFolder, public testing::WithParamInterface<const char *> {
protected:
  PrecompiledHeaders() { compiler_ = GetParam(); }
  bool is_clang() const { return compiler_ == "clang++"; }
  fs::path file_in(const fs::path &folder) const {
    return folder / "some" / (is_clang() ? "header.h.pch" : "header.h.gch");
  }

  /// True if the compiler, told so by the environment, takes the precompiled header. -H names what is read: GCC what is
  /// precompiled too, Clang the headers that it reads instead.
  bool is_taken() const {
    const auto variable = header().in_environment();
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
                                      : text.find("! " + file_in(header().folder()).string()) != std::string::npos);
  }
};

INSTANTIATE_TEST_SUITE_P(Of, PrecompiledHeaders, testing::Values("g++", "clang++"),
                         [](const auto &info) { return info.param == std::string("g++") ? "Gcc" : "Clang"; });

TEST_P(PrecompiledHeaders, AreMadeOnceAndTaken) {
  EXPECT_FALSE(knows_any_header());
  EXPECT_TRUE(header().is_wanted());
  EXPECT_EQ(header().folder(), "");
  ASSERT_TRUE(header().make());
  EXPECT_TRUE(knows_any_header());
  EXPECT_FALSE(header().is_wanted());
  const fs::path folder = header().folder();
  EXPECT_TRUE(is_taken());
  EXPECT_EQ(names(), std::set<std::string>{folder.filename()});
  const auto made = fs::last_write_time(file_in(folder));
  EXPECT_TRUE(header().make());
  EXPECT_EQ(fs::last_write_time(file_in(folder)), made);
}

TEST_P(PrecompiledHeaders, OtherFlagsHaveAnother) {
  ASSERT_TRUE(header().make());
  EXPECT_EQ(header({"-O1"}).folder(), "");
  ASSERT_TRUE(header({"-O1"}).make());
  EXPECT_NE(header({"-O1"}).folder(), header().folder());
  EXPECT_EQ(names().size(), 2u);
}

TEST_P(PrecompiledHeaders, OtherHeadersOfTheSamePathHaveAnother) {
  ASSERT_TRUE(header().make());
  write_header("inline int answer() { return 43; } // another LibTorch in the same place\n");
  EXPECT_EQ(header().folder(), "");
  EXPECT_TRUE(header().is_wanted());
  ASSERT_TRUE(header().make());
  EXPECT_NE(header().folder(), "");
  EXPECT_EQ(names().size(), 1u);
}

TEST_P(PrecompiledHeaders, ADamagedOneIsMadeAgain) {
  ASSERT_TRUE(header().make());
  const fs::path folder = header().folder(), file = file_in(folder);
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(header().folder(), "");
  ASSERT_TRUE(header().make());
  EXPECT_TRUE(is_taken());
}

/// The planted file has the size and the time of the one that was there.
TEST_P(PrecompiledHeaders, APlantedOneIsNotTaken) {
  ASSERT_TRUE(header().make());
  const fs::path file = file_in(header().folder());
  const auto time = fs::last_write_time(file);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(100).put('x');
  fs::last_write_time(file, time);
  EXPECT_EQ(header().folder(), "");
}

TEST_P(PrecompiledHeaders, OneThatOthersMayWriteIsNotTaken) {
  ASSERT_TRUE(header().make());
  const fs::path folder = header().folder();
  fs::permissions(folder, fs::perms::all);
  EXPECT_EQ(header().folder(), "");
}

TEST_P(PrecompiledHeaders, WhatCannotBeMadeIsNotTriedAgainToday) {
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

TEST_P(PrecompiledHeaders, WhatNothingCouldBeBuiltWithIsForgottenForADay) {
  ASSERT_TRUE(header().make());
  header().discard();
  EXPECT_EQ(header().folder(), "");
  EXPECT_FALSE(header().is_wanted());
}

TEST_P(PrecompiledHeaders, TwoProcessesMakeOne) {
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

TEST_P(PrecompiledHeaders, AKilledMakerLeavesNothingThatStays) {
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

TEST_P(PrecompiledHeaders, NothingIsMadeWhereTheCacheCannotBeWritten) {
  std::ofstream(temporary_ / "cache") << "a file";
  EXPECT_EQ(header_cache_folder(), "");
  EXPECT_FALSE(header().is_wanted());
  EXPECT_FALSE(header().make());
  EXPECT_EQ(header().folder(), "");
}

TEST_P(PrecompiledHeaders, NothingIsMadeWhereNoneAreWanted) {
  setenv("REPRO_MINIFY_PRECOMPILED_HEADERS", "off", 1);
  EXPECT_FALSE(header().is_wanted());
  EXPECT_FALSE(header().make());
  unsetenv("REPRO_MINIFY_PRECOMPILED_HEADERS");
}

/// The user's own values of the variables stay.
TEST_P(PrecompiledHeaders, AreAddedToWhatTheUserSays) {
  const std::string name = is_clang() ? "CCC_OVERRIDE_OPTIONS" : "CPATH", other = is_clang() ? "# +-DX" : "/y:/z";
  setenv(name.c_str(), other.c_str(), 1);
  ASSERT_TRUE(header().make());
  const auto variable = header().in_environment();
  unsetenv(name.c_str());
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->first, name);
  EXPECT_NE(variable->second.find(other), std::string::npos) << variable->second;
  EXPECT_NE(variable->second.find(header_cache_folder().string()), std::string::npos) << variable->second;
}

} // namespace
} // namespace repro_minify
