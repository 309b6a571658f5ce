// Tests that what lies in a folder that others may write into is only taken for a file if it is one.
#include "core/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

class PlainFiles : public testing::Test {
protected:
  PlainFiles() { std::ofstream(victim_) << "precious"; }
  ~PlainFiles() override { EXPECT_EQ(read_file(victim_), "precious"); }

  const TemporaryFolder folder_;
  const fs::path victim_ = folder_ / "victim";
  const std::string path_ = (folder_ / "file").string();
};

TEST_F(PlainFiles, AreWrittenToTheirEndAndCut) {
  const PlainFile file = PlainFile::at(path_);
  EXPECT_TRUE(file.append("first\n") && file.append("second"));
  EXPECT_TRUE(file.cut(6));
  EXPECT_TRUE(file.append("third"));
  EXPECT_EQ(file.size(), 11);
  EXPECT_EQ(file.read(6, 100), "third");
  EXPECT_EQ(read_file(path_), "first\nthird");
}

TEST_F(PlainFiles, ReplaceALinkAndFollowNone) {
  fs::create_symlink(victim_, path_);
  EXPECT_THROW(PlainFile::at(path_), std::runtime_error);
  EXPECT_FALSE(PlainFile::to_read(path_));
  EXPECT_TRUE(PlainFile::in_place_of(path_).append("mine"));
  EXPECT_EQ(read_file(path_), "mine");
}

TEST_F(PlainFiles, HaveNoSecondName) {
  fs::create_hard_link(victim_, path_);
  EXPECT_THROW(PlainFile::at(path_), std::runtime_error);
  EXPECT_TRUE(PlainFile::in_place_of(path_).append("mine"));
}

TEST_F(PlainFiles, AreNotWaitedFor) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(PlainFile::at(path_), std::runtime_error);
  EXPECT_FALSE(PlainFile::to_read(path_));
  EXPECT_TRUE(PlainFile::in_place_of(path_).append("mine"));
}

TEST_F(PlainFiles, AreNoFolders) {
  fs::create_directory(path_);
  EXPECT_THROW(PlainFile::at(path_), std::runtime_error);
  EXPECT_THROW(PlainFile::in_place_of(path_), std::runtime_error);
  EXPECT_FALSE(PlainFile::to_read(path_));
  EXPECT_FALSE(PlainFile::to_read(path_ + "/absent"));
}

} // namespace
} // namespace repro_minify
