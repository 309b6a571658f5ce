// Every input that libFuzzer was begun with, or has found something with, once more: under whatever sanitizers this is
// built with, and without clang.
#include "core/files.h"
#include "security/fuzz/harness.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace repro_minify::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus_of(const Harness &harness) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(fs::path(test_paths::corpora) / harness.name))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Corpora : public testing::TestWithParam<Harness> {};

TEST_P(Corpora, AreTakenOrRefused) {
  const auto files = corpus_of(GetParam());
  EXPECT_GE(files.size(), 5u);
  for (const auto &file : files) {
    const std::string bytes = read_file(file);
    EXPECT_NO_THROW(GetParam().run(bytes)) << file;
  }
}

/// A file that is cut short, wherever, is what a full disk leaves.
TEST_P(Corpora, MayEndAnywhere) {
  const auto files = corpus_of(GetParam());
  EXPECT_GE(files.size(), 5u);
  for (const auto &file : files) {
    const std::string bytes = read_file(file);
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 64);
    for (std::size_t size = 0; size < bytes.size(); size += step)
      EXPECT_NO_THROW(GetParam().run(std::string(bytes, 0, size))) << file << ", " << size << " bytes of it";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Corpora, testing::ValuesIn(harnesses()),
                         [](const auto &tested) { return tested.param.name; });

} // namespace
} // namespace repro_minify::fuzz
