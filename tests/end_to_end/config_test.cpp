// Options in TOML: the same names, the command line wins, and the file beside a repro repeats its run.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Config : public testing::Test {
protected:
  fs::path write(const std::string &text) const {
    std::ofstream(folder_ / "c.toml") << text;
    return folder_ / "c.toml";
  }
  void expect_mistake(const std::string &toml, const std::string &names) const {
    const Finished finished = run_tool({"run", "--config", write(toml)});
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    EXPECT_EQ(finished.out, "") << describe(finished);
    EXPECT_NE(finished.err.find(names), std::string::npos) << describe(finished);
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << describe(finished);
  }

  const TemporaryFolder folder_;
  const Case one_ = case_named("jit_type_as_dce");
};

TEST_F(Config, TheFileBesideAReproRepeatsTheRun) {
  for (const char *name : {"jit_type_as_dce", "grad_82635_min_tie", "freeze_linear_bn_3d"}) {
    if (name != std::string("jit_type_as_dce") && !everything_is_asked_for())
      continue;
    const Case one = case_named(name);
    const fs::path first = folder_ / (one.name + ".1"), second = folder_ / (one.name + ".2");
    std::vector<std::string> arguments =
        one.with_backend({one.model(), "-o", first, "--seed", "5", "--no-verify", "-q"});
    ASSERT_EQ(run_tool(arguments).exit_code, 0) << name;
    const Finished again = run_tool({"--config", first / "config.toml", "-o", second});
    ASSERT_EQ(again.exit_code, 0) << describe(again);
    for (const char *file : {"reduced.pt", "inputs.pt", "repro.cpp"}) {
      EXPECT_FALSE(read_text(first / file).empty()) << name << ": " << file;
      EXPECT_EQ(read_text(first / file), read_text(second / file)) << name << ": " << file;
    }
    const json report = json::parse(read_text(second / "report.json"));
    EXPECT_EQ(report.at("seed"), 5);
    EXPECT_EQ(report.at("verified"), nullptr) << "--no-verify is part of the file";
  }
}

/// An option that can be said either way, and was not, has the value that is in force, or none at all.
TEST_F(Config, WhatWasNotSaidIsAsItWas) {
  const auto printed = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test_paths::program);
    return run_program(arguments).out;
  };
  EXPECT_TRUE(contains(printed({"--print-config"}), "ablation = true"));
  EXPECT_TRUE(contains(printed({"--print-config", "--no-ablation"}), "ablation = false"));
  EXPECT_FALSE(contains(printed({"run", "--print-config"}), "timing")) << "how many backends there are decides";
  EXPECT_TRUE(contains(printed({"run", "--print-config", "--no-timing"}), "timing = false"));
  const std::string programs = printed({"--print-config", "--oracle", "./ask.sh", "--python", "venv/bin/python"});
  const fs::path here = fs::current_path();
  EXPECT_TRUE(contains(programs, "oracle = '" + (here / "ask.sh").string() + "'")) << programs;
  EXPECT_TRUE(contains(programs, "python = '" + (here / "venv/bin/python").string() + "'")) << programs;
  EXPECT_TRUE(contains(printed({"--print-config", "--python", "python3"}), "python = 'python3'"));
}

TEST_F(Config, NothingIsOverwrittenByRepeatingARun) {
  const fs::path repro = folder_ / "x.repro";
  ASSERT_EQ(run_tool(one_.with_backend({one_.model(), "-o", repro, "--no-verify", "-q", "--force"})).exit_code, 0);
  const Finished again = run_tool({"--config", repro / "config.toml"});
  EXPECT_EQ(again.exit_code, 2) << describe(again);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
}

TEST_F(Config, TheCommandLineWins) {
  const fs::path file = write("model = '" + one_.model().string() + "'\nbackend = 'jit'\nseed = 3\ncalls = 2\n");
  const Finished finished = run_tool({"run", "--config", file, "--backend", "eager", "--print-config"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_NE(finished.out.find("backend = 'eager'"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("seed = 3"), std::string::npos) << finished.out;
}

TEST_F(Config, OneFileServesEverySubcommand) {
  const fs::path file = write("model = '" + one_.model().string() + "'\nbackend = 'jit'\noutput = '" +
                              (folder_ / "o").string() + "'\njobs = 1\nno-verify = true\nquiet = true\njson = true\n");
  EXPECT_EQ(run_tool({"run", "--config", file}).exit_code, 1);
  EXPECT_EQ(run_tool({"--config", file}).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "o" / "repro.cpp"));
}

TEST_F(Config, WhatIsPrintedIsReadBack) {
  const std::string odd = folder_ / "a \"b\" #c's\\.pt";
  fs::copy_file(one_.model(), odd);
  fs::copy_file(one_.inputs(), folder_ / "inputs.pt");
  const Finished first =
      run_tool({"run", odd, "--backend", "jit", "--tol", "0.5", "--autocast", "--deterministic=off", "--print-config"});
  ASSERT_EQ(first.exit_code, 0) << describe(first);
  const Finished second = run_tool({"run", "--config", write(first.out), "--print-config"});
  ASSERT_EQ(second.exit_code, 0) << describe(second);
  EXPECT_EQ(first.out, second.out);
  EXPECT_NE(first.out.find("tol = 0.5"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("autocast = true"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("deterministic = 'off'"), std::string::npos) << first.out;
  EXPECT_EQ(run_tool({"run", "--config", write(first.out), "--no-autocast", "--tol", "0.001"}).exit_code, 1);
}

TEST_F(Config, DeterministicStandsBareOrWithAWord) {
  const auto printed = [&](std::vector<std::string> words) {
    std::vector<std::string> arguments = {"run"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    arguments.insert(arguments.end(), {"--backend", "jit", "--print-config"});
    return run_tool(arguments).out;
  };
  const std::string model = one_.model();
  for (const std::string &out : {printed({"--deterministic", model}), printed({model, "--deterministic"}),
                                 printed({"--deterministic", "on", model}), printed({"--deterministic=on", model})}) {
    EXPECT_NE(out.find("deterministic = 'on'"), std::string::npos) << out;
    EXPECT_NE(out.find(model), std::string::npos) << out;
  }
  EXPECT_NE(printed({model, "--deterministic", "off"}).find("deterministic = 'off'"), std::string::npos);
  EXPECT_NE(printed({model}).find("deterministic = 'warn'"), std::string::npos);
}

TEST_F(Config, SeveralInputsAreAList) {
  const fs::path file =
      write("model = '" + one_.model().string() + "'\nbackend = 'jit'\ninput = ['f32[4,6]', 'f32[4,6]']\n");
  EXPECT_EQ(run_tool({"run", "--config", file}).exit_code, 1);
}

TEST_F(Config, Mistakes) {
  const std::string start = "model = '" + one_.model().string() + "'\nbackend = 'jit'\n";
  expect_mistake(start + "sede = 1\n", "sede");
  expect_mistake(start + "calls = 0\n", "calls");
  expect_mistake(start + "calls = 'many'\n", "calls");
  expect_mistake(start + "compare = 'loosely'\n", "compare");
  expect_mistake(start + "train = 'perhaps'\n", "train");
  expect_mistake(start + "seed = {a = 1}\n", "seed");
  expect_mistake(start + "seed = \n", "line 3");
  expect_mistake(start + "config = 'c.toml'\n", "config");
  expect_mistake(start + "only-fwd = true\ngrad = true\n", "--only-fwd");
  const Finished absent = run_tool({"run", "--config", folder_ / "absent.toml"});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_NE(absent.err.find("absent.toml"), std::string::npos);
}

} // namespace
} // namespace repro_minify::end_to_end
