// For tests of headers that are kept precompiled: a cache of their own, and a header that takes no time.
#pragma once
#include "core/files.h"
#include "core/programs.h"
#include "tasks/project_build.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace repro_minify {

class WithHeaderFolder : public testing::Test {
protected:
  void SetUp() override {
    if (find_program(compiler_).empty() || find_program("ninja").empty())
      GTEST_SKIP() << "no " << compiler_ << ", or no Ninja";
    setenv("XDG_CACHE_HOME", (temporary_ / "cache").c_str(), 1);
    std::filesystem::create_directories(include() / "some");
    write_header("inline int answer() { return 42; }\n");
  }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  std::filesystem::path include() const { return temporary_ / "include"; }
  /// Clang reads it again where it does not say that once is enough.
  void write_header(const std::string &text) const {
    std::ofstream(include() / "some" / "header.h") << "#pragma once\n" << text;
  }
  KeptHeader header(const std::vector<std::string> &flags = {}) const {
    std::vector<std::string> words = {compiler_, "-isystem", include()};
    words.insert(words.end(), flags.begin(), flags.end());
    return {"some/header.h", words};
  }

  const TemporaryFolder temporary_;
  std::string compiler_ = "g++";
};

} // namespace repro_minify
