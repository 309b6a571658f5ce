// The Python side of the inductor backend has tests in Python: inductor_NAME.py, which run in forks of one Python.
#include "check/oracle.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace repro_minify {
namespace {

class InductorInPython : public testing::TestWithParam<const char *> {};

TEST_P(InductorInPython, WhatItsTestsSay) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const auto root = std::filesystem::path(test_paths::fixtures).parent_path();
  const auto script = root / "tests/backends/inductor/inductor_together.py", folder = root / "src/backends/inductor";
  const auto [output, status] = run_shell(std::string(test_paths::python) + " -B '" + script.string() + "' '" +
                                          folder.string() + "' " + GetParam());
  EXPECT_EQ(status, 0) << output;
  EXPECT_NE(output.find("\nRan "), std::string::npos) << output;
}

INSTANTIATE_TEST_SUITE_P(Parts, InductorInPython,
                         testing::Values("generated conditions explanation recipe preparation bisector",
                                         "emit fx_text fx_text_random tensor_text wire fx_graph kept translation"),
                         [](const auto &part) {
                           std::string name = part.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

} // namespace
} // namespace repro_minify
