#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

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

} // namespace
} // namespace repro_minify
