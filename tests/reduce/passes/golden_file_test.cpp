// Each pass has a golden, a text file in golden/: what it does, as people read it. REPRO_MINIFY_WRITE_GOLDENS=1 writes
// what comes out again.
#include "reduce/passes/golden_file.h"

#include "core/files.h"
#include "reduce/passes/golden.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_goldens() {
  return fs::path(test_paths::fixtures).parent_path() / "tests/reduce/passes/golden";
}

class PassGoldens : public testing::TestWithParam<std::string> {};

TEST_P(PassGoldens, ComeOutAsTheyStand) {
  const fs::path path = folder_of_goldens() / (GetParam() + ".txt");
  const auto golden = testing_support::read_golden(read_file(path));
  ASSERT_TRUE(golden.needs(golden.program)) << path << ": the program itself has not what it needs";
  const auto result = testing_support::run_pass(GetParam(), golden.program, golden.needs);
  EXPECT_TRUE(golden.needs(result.reduction.program));
  EXPECT_GT(result.checks, 0) << "the pass finds nothing to do in it";
  const std::string rest = testing_support::golden_rest(result.reduction);
  if (std::getenv("REPRO_MINIFY_WRITE_GOLDENS") != nullptr)
    std::ofstream(path, std::ios::binary) << golden.head << rest;
  else
    EXPECT_EQ(golden.rest, rest) << path << "; if the change is wanted, see CONTRIBUTING.md";
}

std::vector<std::string> names_of_passes() {
  std::vector<std::string> names;
  for (const auto &pass : reduction_passes())
    names.push_back(pass.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(EachPass, PassGoldens, testing::ValuesIn(names_of_passes()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(PassGoldens, AreOfAPassEach) {
  const auto names = names_of_passes();
  for (const auto &entry : fs::directory_iterator(folder_of_goldens()))
    EXPECT_EQ(std::count(names.begin(), names.end(), entry.path().stem().string()), 1) << entry.path();
}

TEST(PassGoldens, SayWhichLineCannotBeRead) {
  EXPECT_THROW(testing_support::read_golden("input: ones f32[2]\n"), std::runtime_error);
  EXPECT_THROW(testing_support::read_golden("wants: aten::relu\n--- program\n"), std::runtime_error);
}

} // namespace
} // namespace repro_minify
