#include "core/programs.h"

#include "core/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// With a PATH of two folders of its own.
class FindProgram : public testing::Test {
protected:
  FindProgram() : first_(folder_ / "first"), second_(folder_ / "second") {
    fs::create_directory(first_);
    fs::create_directory(second_);
    set_path(first_ + ":" + second_);
  }
  ~FindProgram() override { set_path(path_); }

  static void set_path(const std::string &path) { setenv("PATH", path.c_str(), 1); }
  static std::string make(const std::string &file, fs::perms permissions = fs::perms::owner_all) {
    std::ofstream(file) << "#!/bin/sh\n";
    fs::permissions(file, permissions);
    return file;
  }

  const TemporaryFolder folder_;
  const std::string path_ = std::getenv("PATH");
  const std::string first_, second_;
};

TEST_F(FindProgram, TheFirstOnPathThatCanBeExecuted) {
  make(first_ + "/it", fs::perms::owner_read);
  fs::create_directory(first_ + "/that");
  const std::string it = make(second_ + "/it"), that = make(second_ + "/that");
  EXPECT_EQ(find_program("it"), it);
  EXPECT_EQ(find_program("that"), that);
  EXPECT_EQ(find_program("neither"), "");
  const std::string earlier = make(first_ + "/it", fs::perms::owner_all);
  EXPECT_EQ(find_program("it"), earlier);
}

TEST_F(FindProgram, ANameWithASlashIsAPath) {
  const std::string file = make(second_ + "/it");
  EXPECT_EQ(find_program(file), file);
  EXPECT_EQ(find_program("/second/it"), "");
}

TEST_F(FindProgram, AnEmptyFolderIsTheOneWeAreIn) {
  const fs::path before = fs::current_path();
  make(first_ + "/it");
  fs::current_path(first_);
  set_path(":" + second_);
  EXPECT_EQ(find_program("it"), "./it");
  fs::current_path(before);
}

} // namespace
} // namespace repro_minify
