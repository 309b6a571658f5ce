// Options that would be heard by nothing: refused, or said to have no effect.
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string model() {
  return case_named("jit_type_as_dce").model();
}

struct InVain {
  std::vector<std::string> arguments;
  std::string said;
};

TEST(GivenInVain, IsRefusedWithASentence) {
  const std::vector<InVain> given = {
      {{"absent.pt", "run", model(), "--backend", "jit"}, "absent.pt: stands before run"},
      {{"--all", "run", model(), "--backend", "jit"}, "--all: stands before run, which has no such option"},
      {{"run", model(), "-o", "x"}, "not expected: -o x"},
      {{"run", model(), "--backend", "torch-compile:eager", "--backend-option", "fast"}, "fast: is no KEY=VALUE"},
      {{"run", model(), "--backend", "jit", "--python-of", "python3"}, "python3: is no BACKEND=PYTHON"},
      {{"run", model(), "--backend", "jit", "--python-of", "inductr=python3"}, "did you mean inductor?"},
      {{"run", model(), "--backend", "jit", "--check", "run", "--require-fp64"}, "nothing is computed in float64"}};
  for (const InVain &one : given) {
    const Finished finished = run_tool(one.arguments);
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    EXPECT_TRUE(contains(finished.err, one.said)) << describe(finished);
  }
}

TEST(GivenInVain, IsSaidWhereAnotherBackendWouldHeedIt) {
  for (const char *option : {"--skip-stage", "--dump-stage", "--backend-option"}) {
    const Finished finished = run_tool({"run", model(), "--backend", "jit", option, "fuse", "--no-timing"});
    EXPECT_EQ(finished.exit_code, 1) << describe(finished);
    EXPECT_TRUE(contains(finished.err, std::string(option) + " has no effect under jit")) << describe(finished);
  }
}

TEST(GivenInVain, ABackendThatIsNamedTwiceIsAskedOnce) {
  const Finished finished = run_tool({"run", model(), "--backend", "jit,eager,jit", "--json", "--no-timing"});
  EXPECT_EQ(json::parse(finished.out).size(), 2U) << describe(finished);
}

/// An option that a file turns off by its other name is off.
TEST(GivenInVain, TheOtherNameOfAnOptionTurnsItOffInAFile) {
  const TemporaryFolder folder;
  const fs::path file = folder / "c.toml";
  const std::vector<std::pair<std::string, std::string>> both_ways = {
      {"", "autocast"}, {"", "equal-nan"}, {"", "ablation"}, {"run", "timing"}};
  for (const auto &[command, name] : both_ways)
    for (const bool off : {true, false}) {
      std::ofstream(file) << "no-" << name << " = " << (off ? "true" : "false") << "\n";
      std::vector<std::string> words = {test_paths::program, "--config", file, "--print-config"};
      if (!command.empty())
        words.insert(words.begin() + 1, command);
      const std::string printed = run_program(words).out;
      EXPECT_TRUE(contains(printed, name + " = " + (off ? "false" : "true"))) << name << "\n" << printed;
    }
}

/// A folder of the user's own has no journal to go on from.
TEST(GivenInVain, ResumeDoesNotStandForForceInASeriesEither) {
  const TemporaryFolder folder;
  const fs::path mine = folder / "mine";
  fs::create_directory(mine);
  std::ofstream(mine / "index.html") << "mine";
  const Finished finished = run_tool({model(), "--backend", "jit", "--all", "--resume", "-o", mine});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_EQ(read_text(mine / "index.html"), "mine");
}

/// config.toml repeats its run from any folder.
TEST(GivenInVain, PathsInABackendsNameAreWrittenFromAnywhere) {
  const fs::path here = fs::current_path();
  const auto printed = [](const std::vector<std::string> &words) {
    std::vector<std::string> all = {test_paths::program, "--print-config"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all).out;
  };
  const std::string several = printed({"--backend", "jit,plugin:./x.so"});
  EXPECT_TRUE(contains(several, "plugin:" + (here / "x.so").string())) << several;
  const std::string python = printed({"--backend", "inductor", "--python-of", "inductor=./a=b/python"});
  EXPECT_TRUE(contains(python, "inductor=" + (here / "a=b/python").string())) << python;
}

/// Passes in a row are one backend, whatever else is named.
TEST(GivenInVain, PassesInARowStayTogether) {
  const Finished finished =
      run_tool({"run", model(), "--backend", "pass:peephole,jit,pass:peephole,cse,jit", "--json"});
  std::vector<std::string> names;
  for (const json &row : json::parse(finished.out))
    names.push_back(row.at("backend"));
  EXPECT_EQ(names, (std::vector<std::string>{"pass:peephole", "jit", "pass:peephole,cse"})) << describe(finished);
}

/// The name of a backend may hold what commands a terminal, or begins a heading in Markdown.
TEST(GivenInVain, ABackendsNameIsShownNotObeyed) {
  const std::string backend = "command:true \x1b[31m\n# heading";
  const Finished finished = run_tool({"run", model(), "--backend", backend, "--no-timing"});
  EXPECT_FALSE(contains(finished.out, "\x1b[31m")) << describe(finished);
  EXPECT_FALSE(contains(finished.out, "\n# heading")) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
