#include "core/programs.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace repro_minify {
namespace {

TEST(LoadedLibrary, IsWhereItWasLoadedFrom) {
  const std::string folder = folder_of_loaded_library("libc.so.6");
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(std::filesystem::exists(folder + "/libc.so.6")) << folder;
}

TEST(LoadedLibrary, OneThatIsNotLoadedIsNowhere) {
  EXPECT_EQ(folder_of_loaded_library("libthat_is_nowhere.so"), "");
}

TEST(LoadedLibrary, WithoutLibTorchItIsTheOneOfTheBuild) {
  if (!folder_of_loaded_library("libtorch_cpu.so").empty())
    GTEST_SKIP() << "this process has LibTorch";
  EXPECT_EQ(torch_prefix_in_use("/built/with"), "/built/with");
}

} // namespace
} // namespace repro_minify
