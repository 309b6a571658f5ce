// Tests that values which a model's own code makes while it is loaded are made in a child: none of it runs here.
#include "program/archive_records.h"

#include "core/files.h"
#include "program/fixture.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/import.h>

#include <chrono>

namespace repro_minify {
namespace {

/// `made` is what __setstate__ does; forward adds what came of it.
std::string model_that(const std::string &made, const TemporaryFolder &folder) {
  torch::jit::Module module("Made");
  module.register_attribute("number", c10::IntType::get(), int64_t{1});
  module.define("def __getstate__(self):\n  return 7\n"
                "def __setstate__(self, state: int):\n" +
                made + "def forward(self, x):\n  return x + self.number\n");
  const std::string path = folder.path() / "made.pt";
  module.save(path);
  return path;
}

TEST(StateFunctions, MakeWhatTheModelHolds) {
  const TemporaryFolder folder;
  const auto model = load_model(model_that("  self.number = state + 1\n", folder), "forward", 0, false);
  EXPECT_EQ(model.module.attr("number").toInt(), 8);
}

TEST(StateFunctions, AreNotInWhatIsLoadedHere) {
  const TemporaryFolder folder;
  const std::string path = model_that("  self.number = state\n", folder);
  EXPECT_TRUE(has_state_functions(torch::jit::load(path)));
  EXPECT_FALSE(has_state_functions(load_model(path, "forward", 0, false).module));
}

TEST(StateFunctions, ThatDoNotEndAreRefused) {
  const TemporaryFolder folder;
  const std::string path = model_that("  self.number = 1\n  while state > 0:\n    state += 1\n", folder);
  Limits limits;
  limits.timeout = std::chrono::seconds(2);
  EXPECT_THROW(load_model(path, "forward", 0, false, c10::kCPU, limits), UserError);
}

} // namespace
} // namespace repro_minify
