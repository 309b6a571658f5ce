// The texts of a repro, for a dozen of the combinations of failure kind, gradients, autocast and device: one file in
// golden/ for each, which people read. REPRO_MINIFY_WRITE_GOLDENS=1 writes them again.
#include "core/files.h"
#include "repro/render.h"
#include "repro/script_text.h"
#include "repro/small_program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

fs::path golden_folder() {
  return fs::path(test_paths::fixtures).parent_path() / "tests/repro/golden";
}

std::string text_in(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool writes_goldens() {
  return std::getenv("REPRO_MINIFY_WRITE_GOLDENS") != nullptr;
}

struct GoldenCase {
  FailureKind kind;
  bool grad, autocast, cuda;
  bool constant = true; ///< the program has a constant, so that repro.cpp has its longer form

  std::string name() const {
    return std::string(to_string(kind)) + (grad ? "_grad" : "") + (autocast ? "_autocast" : "") +
           (cuda ? "_cuda" : "_cpu") + (constant ? "" : "_plain") + ".txt";
  }
};

/// Each kind of failure, and each pair of gradients, autocast and device; emitted_cpp_test.cpp compiles all of them
/// together.
constexpr GoldenCase golden_cases[] = {{FailureKind::Accuracy, false, false, false},
                                       {FailureKind::Accuracy, true, true, true},
                                       {FailureKind::Gradient, true, false, true},
                                       {FailureKind::Crash, false, true, true},
                                       {FailureKind::Hang, true, false, false},
                                       {FailureKind::Memory, false, true, false},
                                       {FailureKind::Exception, true, true, false},
                                       {FailureKind::Exception, false, false, true},
                                       {FailureKind::Structure, false, false, true},
                                       {FailureKind::Shape, false, true, true},
                                       {FailureKind::Nan, true, true, false},
                                       {FailureKind::Dtype, true, false, false},
                                       {FailureKind::Accuracy, false, false, false, false},
                                       {FailureKind::Exception, false, false, false, false}};

ReproFacts facts_for(const GoldenCase &golden) {
  ReproFacts facts = testing_support::facts_of(golden.kind, golden.grad, golden.autocast);
  facts.signature.where = golden.kind == FailureKind::Gradient ? "gradient" : facts.signature.where;
  if (golden.kind == FailureKind::Crash)
    facts.signature.detail = "exit"; // else it is a device's error, which raises
  facts.reduced.message = "what was found";
  facts.memory_bytes = golden.kind == FailureKind::Memory ? 1u << 30 : 0;
  if (golden.cuda) {
    facts.check.device = at::Device("cuda:0");
    facts.needs_determinism = true;
  }
  return facts;
}

std::string texts_of(const GoldenCase &golden) {
  const TemporaryFolder folder;
  Program program = testing_support::small_program();
  for (auto &input : program.inputs)
    if (input.role == Role::Constant && !golden.constant)
      input.role = Role::Buffer;
  const ReproFacts facts = facts_for(golden);
  write_repro(program, facts, folder.path());
  const ReproScripts scripts = repro_scripts(program, facts);
  return text_in(folder / "repro.cpp") + "\n==== repro.py\n" +
         (scripts.scripts.empty() ? scripts.none_because + "\n" : scripts.scripts.front().text);
}

TEST(GoldenTexts, AreAsTheyWere) {
  for (const GoldenCase &golden : golden_cases) {
    const fs::path path = golden_folder() / golden.name();
    const std::string text = texts_of(golden);
    if (writes_goldens())
      std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(text, text_in(path)) << path << "; if the change is wanted, see CONTRIBUTING.md";
  }
}

TEST(GoldenTexts, AreAllOfSomeCase) {
  std::set<std::string> names;
  for (const GoldenCase &golden : golden_cases)
    names.insert(golden.name());
  for (const auto &entry : fs::directory_iterator(golden_folder()))
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path() << " belongs to no case";
}

/// A hole without a kind would let a model's text stand as it is.
TEST(Templates, EachHoleHasAKind) {
  for (const EmbeddedText *file = templates; file->name; ++file) {
    const std::string text = file->text;
    for (size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
      const std::string hole = text.substr(at + 2, text.find("}}", at) - at - 2);
      const bool is_mark = hole.starts_with("#") || hole.starts_with("/");
      EXPECT_TRUE(is_mark || hole.find(":x-") != std::string::npos) << file->name << ": " << hole;
    }
  }
}

TEST(Templates, EscapeByKindOfHole) {
  const std::string evil = "evil\nint main() {}\\";
  const std::string text = render("repro_runner.cpp.tpl", {{"headline", evil}, {"found", evil}, {"why", evil}});
  EXPECT_EQ(text.find("\nint main() {}"), std::string::npos) << text;
  EXPECT_EQ(text.find("\\\n"), std::string::npos) << text;
}

} // namespace
} // namespace repro_minify
