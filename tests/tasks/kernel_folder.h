// For tests that compile kernels: a folder of their own for what is compiled.
#pragma once
#include "tasks/compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace repro_minify {

class WithKernelFolder : public testing::Test {
protected:
  void SetUp() override {
    if (find_compiler().empty())
      GTEST_SKIP() << "no C++ compiler";
    std::string pattern = (std::filesystem::temp_directory_path() / "kernel-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    if (!folder_.empty())
      std::filesystem::remove_all(folder_);
  }

  std::string folder_;
};

} // namespace repro_minify
