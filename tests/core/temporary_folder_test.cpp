#include "core/files.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

namespace repro_minify {
namespace {

TEST(TemporaryFolder, GoesWithAllThatIsInIt) {
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::filesystem::create_directories(path + "/a/b");
    std::ofstream(path + "/a/b/c") << "text";
    EXPECT_TRUE(std::filesystem::exists(path + "/a/b/c"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

void make_folders_that_may_not_be_read() {
  const TemporaryFolder folder;
  mkdir((folder / "closed").c_str(), 0300);
  mkdir((folder / "closed" / "more").c_str(), 0300);
  std::ofstream(folder / "closed" / "more" / "file") << "text";
}

TEST(TemporaryFolder, GoesWithFoldersThatMayNotBeRead) {
  const TemporaryFolder parent;
  chmod(parent.path().c_str(), 0777);
  const pid_t child = fork();
  if (child == 0) {
    setenv("TMPDIR", parent.path().c_str(), 1);
    if (geteuid() == 0 && setuid(65534) != 0) // root may look into any
      _exit(1);
    make_folders_that_may_not_be_read();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::is_empty(parent.path()));
}

TEST(TemporaryFolder, IsNotTheForkedChildsToRemove) {
  auto folder = std::make_unique<TemporaryFolder>();
  const pid_t child = fork();
  if (child == 0) {
    folder.reset();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::is_directory(folder->path()));
}

TEST(TemporaryFolder, OfAProcessThatWasKilledIsRemoved) {
  const TemporaryFolder parent;
  const auto in_parent = [&](const std::string &name) { return parent / name; };
  std::filesystem::create_directories(in_parent("repro-minify.ABC123") / "full");
  std::filesystem::create_directories(in_parent("repro-minify.toolong7"));
  std::filesystem::create_directories(in_parent("precious"));
  std::filesystem::create_directory_symlink(in_parent("precious"), in_parent("repro-minify.ABC124"));
  std::ofstream(in_parent("repro-minify.ABC125")) << "a file";
  remove_left_over_folders(parent.path());
  EXPECT_FALSE(std::filesystem::exists(in_parent("repro-minify.ABC123")));
  for (const char *kept : {"repro-minify.toolong7", "precious", "repro-minify.ABC124", "repro-minify.ABC125"})
    EXPECT_TRUE(std::filesystem::exists(in_parent(kept))) << kept;
}

TEST(TemporaryFolder, OfAProcessThatLivesIsNot) {
  const TemporaryFolder parent; // nothing is removed from the machine's own folder
  const pid_t owner = fork();
  if (owner == 0) {
    setenv("TMPDIR", parent.path().c_str(), 1);
    const TemporaryFolder folder;
    const pid_t child = fork();
    if (child == 0) {
      remove_left_over_folders(parent.path());
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    _exit(folder.path().parent_path() == parent.path() && std::filesystem::is_directory(folder.path()) ? 0 : 1);
  }
  int status = -1;
  waitpid(owner, &status, 0);
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace repro_minify
