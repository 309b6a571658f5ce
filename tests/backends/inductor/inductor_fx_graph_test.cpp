// The Python side of the inductor backend has tests in Python: inductor_NAME.py.
#include "check/oracle.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace repro_minify {
namespace {

class InductorInPython : public testing::TestWithParam<const char *> {};

TEST_P(InductorInPython, WhatItsTestsSay) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const auto root = std::filesystem::path(test_paths::fixtures).parent_path();
  const std::string script = root / "tests/backends/inductor" / (std::string("inductor_") + GetParam() + ".py"),
                    folder = root / "src/backends/inductor";
  const auto [output, status] = run_shell(std::string(test_paths::python) + " -B '" + script + "' '" + folder + "'");
  EXPECT_EQ(status, 0) << output;
  EXPECT_NE(output.find("\nRan "), std::string::npos) << output;
}

INSTANTIATE_TEST_SUITE_P(Parts, InductorInPython,
                         testing::Values("bisector", "conditions", "emit", "fx_graph", "fx_text", "fx_text_random",
                                         "explanation", "generated", "kept", "preparation", "recipe", "tensor_text",
                                         "translation", "wire"),
                         [](const auto &part) { return std::string(part.param); });

} // namespace
} // namespace repro_minify
