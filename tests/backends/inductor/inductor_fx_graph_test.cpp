// The Python side of the inductor backend has tests in Python: inductor_bisector.py, inductor_emit.py,
// inductor_explanation.py, inductor_fx_graph.py, inductor_fx_text.py, inductor_fx_text_random.py, inductor_kept.py,
// inductor_preparation.py, inductor_recipe.py, inductor_tensor_text.py, inductor_translation.py, inductor_wire.py.
#include "check/oracle.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace repro_minify {
namespace {

void expect_to_pass(const std::string &tests) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const auto root = std::filesystem::path(test_paths::fixtures).parent_path();
  const std::string script = root / "tests/backends/inductor" / tests, folder = root / "src/backends/inductor";
  const auto [output, status] = run_shell(std::string(test_paths::python) + " -B '" + script + "' '" + folder + "'");
  EXPECT_EQ(status, 0) << output;
  EXPECT_NE(output.find("\nRan "), std::string::npos) << output;
}

TEST(InductorBisector, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_bisector.py");
}

TEST(InductorEmit, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_emit.py");
}

TEST(InductorFxGraph, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_fx_graph.py");
}

TEST(InductorFxText, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_fx_text.py");
}

TEST(InductorFxTextRandom, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_fx_text_random.py");
}

TEST(InductorExplanation, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_explanation.py");
}

TEST(InductorKept, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_kept.py");
}

TEST(InductorPreparation, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_preparation.py");
}

TEST(InductorRecipe, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_recipe.py");
}

TEST(InductorTensorText, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_tensor_text.py");
}

TEST(InductorTranslation, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_translation.py");
}

TEST(InductorWire, WhatItsPythonTestsSay) {
  expect_to_pass("inductor_wire.py");
}

} // namespace
} // namespace repro_minify
