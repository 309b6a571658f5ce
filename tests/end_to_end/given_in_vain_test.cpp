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
  std::ofstream(here / "a run.sh") << "#!/bin/sh\n";
  const auto printed = [](const std::string &backend) {
    return run_program({test_paths::program, "--backend", backend, "--print-config"}).out;
  };
  const std::string command = printed("command:'./a run.sh' --fast");
  EXPECT_TRUE(contains(command, "command:'" + (here / "a run.sh").string() + "' '--fast'")) << command;
  const std::string several = printed("jit,plugin:./x.so");
  EXPECT_TRUE(contains(several, "plugin:" + (here / "x.so").string())) << several;
  fs::remove(here / "a run.sh");
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
