// Tests of the command line's answers: to requests for help, mistakes (one clear sentence, exit code 2), odd names.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

void copy_front(const fs::path &from, const fs::path &to, double fraction) {
  const std::string bytes = read_text(from);
  std::ofstream(to, std::ios::binary) << bytes.substr(
      0, static_cast<std::size_t>(static_cast<double>(bytes.size()) * fraction));
}

/// Exit code 2, nothing on standard output, and on standard error one line that names what is wrong.
void expect_one_clear_sentence(const Finished &finished, const std::string &names) {
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_EQ(finished.out, "") << describe(finished);
  EXPECT_TRUE(contains(finished.err, names)) << "no mention of " << names << "\n" << describe(finished);
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << describe(finished);
}

/// Mistakes are made with a small model that has two tensor inputs, x and y of f32[4, 6], and fails with jit.
class Mistakes : public testing::Test {
protected:
  Finished run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", folder_ / "x.repro", "--no-verify"});
    return run_tool(arguments, std::chrono::seconds(120));
  }
  Finished run_jit(const fs::path &model, const std::vector<std::string> &more = {}) const {
    std::vector<std::string> arguments = {model, "--backend", "jit"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  /// No output folder is left behind by a mistake.
  void TearDown() override { EXPECT_FALSE(fs::exists(folder_ / "x.repro")); }

  const TemporaryFolder folder_;
  const Case one_ = case_named("jit_type_as_dce");
};

TEST_F(Mistakes, AreNamed) {
  std::ofstream(folder_ / "empty.pt").close();
  std::ofstream(folder_ / "notes.pt") << "these are my notes\n";
  copy_front(one_.model(), folder_ / "half.pt", 0.5);
  copy_front(one_.inputs(), folder_ / "broken_inputs.pt", 0.5);
  fs::copy_file(one_.model(), folder_ / "alone.pt");
  const fs::path model = one_.model(), inputs = fixtures() / "inputs";
  struct Mistake {
    fs::path model;
    std::vector<std::string> more;
    std::string is_named;
  };
  const std::vector<Mistake> mistakes = {
      {folder_ / "absent.pt", {}, "absent.pt"},
      {folder_ / "empty.pt", {}, "empty.pt"},
      {folder_ / "half.pt", {}, "half.pt"},
      {folder_ / "notes.pt", {}, "notes.pt"},
      {fixtures() / "not_models" / "tensors.pt", {}, "tensors.pt"},
      {folder_ / "alone.pt", {}, "no inputs for forward(x: Tensor, y: Tensor); give --inputs FILE"},
      {model, {"--inputs", folder_ / "absent_inputs.pt"}, "absent_inputs.pt"},
      {model, {"--inputs", folder_ / "broken_inputs.pt"}, "broken_inputs.pt"},
      {model, {"--inputs", inputs / "one_tensor.pt"}, "takes 2 inputs, and there is none for 'y'"},
      {model, {"--input", "f32[4,6]", "--input", "f32[4,6]", "--input", "f32[4,6]"}, "holds 3 inputs"},
      {model, {"--inputs", inputs / "number.pt"}, "input 'y' is int"},
      {model, {"--method", "backwards"}, "backwards"},
      {model, {"--warp", "9"}, "--warp"},
      {model, {"--calls", "0"}, "--calls"},
      {model, {"--jobs", "-3"}, "--jobs"},
      {model, {"--seed", "lucky"}, "--seed"},
      {model, {"--memory-limit", "4 elephants"}, "--memory-limit"},
      {model, {"--compare", "loosely"}, "--compare"}};
  for (const auto &mistake : mistakes)
    expect_one_clear_sentence(run_jit(mistake.model, mistake.more), mistake.is_named);
}

TEST_F(Mistakes, Folder) {
  expect_one_clear_sentence(run_jit(folder_.path()), folder_.path().string());
}

TEST_F(Mistakes, StateDict) {
  const Finished finished = run_jit(fixtures() / "not_models" / "state_dict.pt");
  expect_one_clear_sentence(finished, "state_dict.pt");
  EXPECT_TRUE(contains(finished.err, "TorchScript")) << finished.err;
}

TEST_F(Mistakes, BadInputSpec) {
  for (const char *spec : {"f99[4,6]", "f32[4,", "f32", "[4,6]", "f32[-1]", "", "i64[4,6]@0:inf", "f32[4,6]@nan:1"})
    expect_one_clear_sentence(run_jit(one_.model(), {"--input", spec, "--input", "f32[4,6]"}), "--input");
}

/// Every option that takes a number is given text that is none, or a number that nothing behind it can take. Each pair
/// is a start of the program: every fourth, where not everything is asked for.
TEST_F(Mistakes, NumbersOutOfRange) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  int pairs = 0;
  for (const std::string option : {"--repeat", "--need", "--calls", "--threads", "--timeout", "--tol", "--jobs",
                                   "--time-budget", "--seed", "--memory-limit"})
    for (const std::string number : {"nan", "1e300", "-1"})
      if (pairs++ % how_many(4, 1) == 0)
        expect_one_clear_sentence(run_jit(one_.model(), {option + "=" + number}), option);
  for (const std::string number : {"inf", "99999999999999999999", "", "x", "0x10", "1 2"})
    expect_one_clear_sentence(run_jit(one_.model(), {"--timeout=" + number}), "--timeout");
  for (const std::string option : {"--repeat", "--timeout", "--tol", "--jobs"})
    expect_one_clear_sentence(run_jit(one_.model(), {option, "0"}), option);
}

TEST_F(Mistakes, SizesThatAreNone) {
  for (const std::string size : {"GiB", "4XB", "-1GB", "0", "4GiBs", "99999999999GB", "nanGB"})
    expect_one_clear_sentence(run_jit(one_.model(), {"--memory-limit=" + size}), "--memory-limit");
}

/// In a file as on the command line.
TEST_F(Mistakes, NumbersOutOfRangeInAFile) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  for (const char *line : {"timeout = nan", "timeout = inf", "calls = -1", "tol = \"\"", "seed = -1"}) {
    std::ofstream(folder_ / "x.toml") << line << '\n';
    expect_one_clear_sentence(run_jit(one_.model(), {"--config", folder_ / "x.toml"}), "x.toml");
  }
}

TEST_F(Mistakes, UnknownBackend) {
  expect_one_clear_sentence(run({one_.model(), "--backend", "warp-drive"}), "warp-drive");
}

/// The contents of the output folder do not matter then.
TEST_F(Mistakes, UnknownBackendComesBeforeTheFolder) {
  const fs::path taken = folder_ / "taken";
  fs::create_directory(taken);
  std::ofstream(taken / "precious.txt") << "mine\n";
  for (const std::vector<std::string> &command : {std::vector<std::string>{}, {"analyze"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {one_.model(), "--backend", "warp-drive", "-o", taken});
    const Finished finished = run_tool(arguments);
    expect_one_clear_sentence(finished, "warp-drive: unknown backend");
  }
  EXPECT_EQ(read_text(taken / "precious.txt"), "mine\n");
}

TEST_F(Mistakes, WhatWasMeantIsAsked) {
  expect_one_clear_sentence(run({one_.model(), "--backend", "jti"}), "did you mean jit?");
  expect_one_clear_sentence(run({one_.model(), "--backend", "pass:peephoel"}), "did you mean peephole?");
  expect_one_clear_sentence(run_jit(one_.model(), {"--timeuot", "3"}), "did you mean --timeout?");
  expect_one_clear_sentence(run_jit(one_.model(), {"--timeuot=3"}), "did you mean --timeout?");
  expect_one_clear_sentence(run_jit(one_.model(), {"--passes", "cot"}), "did you mean cut?");
  expect_one_clear_sentence(run_tool({"run", one_.model(), "--backend", "jit", "--jsno"}), "did you mean --json?");
  expect_one_clear_sentence(run_tool({"rnu", one_.model(), "--backend", "jit"}), "did you mean run?");
  expect_one_clear_sentence(run_tool({"analyse", "--backend", "jit"}), "did you mean analyze?");
  std::ofstream(folder_ / "x.toml") << "time-out = 3\n";
  expect_one_clear_sentence(run_jit(one_.model(), {"--config", folder_ / "x.toml"}), "did you mean timeout?");
}

TEST_F(Mistakes, NothingIsMeantByWhatIsNearNothing) {
  for (const Finished &finished : {run({one_.model(), "--backend", "warp-drive"}), run_jit(one_.model(), {"--warp"})})
    EXPECT_FALSE(contains(finished.err, "did you mean")) << describe(finished);
}

TEST_F(Mistakes, NoBackend) {
  expect_one_clear_sentence(run({one_.model()}), "--backend");
}

TEST_F(Mistakes, UnknownPass) {
  expect_one_clear_sentence(run({one_.model(), "--backend", "pass:peephole,warp"}), "warp");
  expect_one_clear_sentence(run({one_.model(), "--backend", "pass:"}), "pass:");
}

TEST(Output, AnExistingFolderIsLeftAlone) {
  const TemporaryFolder folder;
  const Case one = case_named("jit_type_as_dce");
  const fs::path taken = folder / "taken";
  fs::create_directory(taken);
  std::ofstream(taken / "precious.txt") << "mine\n";
  const Finished finished = run_tool({one.model(), "--backend", "jit", "--no-verify", "-o", taken});
  expect_one_clear_sentence(finished, "taken");
  EXPECT_TRUE(contains(finished.err, "--force")) << finished.err;
  EXPECT_EQ(read_text(taken / "precious.txt"), "mine\n");
}

TEST(Output, ForceWritesBesideWhatWasThere) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const Case one = case_named("jit_type_as_dce");
  const fs::path taken = folder / "taken";
  fs::create_directory(taken);
  std::ofstream(taken / "precious.txt") << "mine\n";
  const Finished finished = run_tool({one.model(), "--backend", "jit", "--no-verify", "-o", taken, "--force"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(fs::exists(taken / "reduced.pt"));
  EXPECT_EQ(read_text(taken / "precious.txt"), "mine\n");
}

TEST(Output, TheModelAndItsInputsAreNotWrittenOver) {
  const TemporaryFolder folder;
  const Case one = case_named("jit_type_as_dce");
  const fs::path own = folder / "own";
  fs::create_directory(own);
  fs::copy_file(one.model(), own / "failing.pt");
  fs::copy_file(one.inputs(), own / "inputs.pt");
  const std::string before = read_text(own / "inputs.pt");
  const Finished finished = run_tool({own / "failing.pt", "--backend", "jit", "--no-verify", "-o", own, "--force"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "inputs.pt: would be written over")) << finished.err;
  EXPECT_EQ(read_text(own / "inputs.pt"), before);
}

TEST(Help, TeachesSubcommandsAndExitCodes) {
  for (const char *flag : {"-h", "--help"}) {
    const Finished finished = run_tool({flag});
    EXPECT_EQ(finished.exit_code, 0) << describe(finished);
    for (const char *word : {"run", "backends", "--backend", "--input", "--output", "--no-verify", "Exit codes", "130"})
      EXPECT_TRUE(contains(finished.out, word)) << "no mention of " << word << "\n" << describe(finished);
  }
}

TEST(Help, EverySubcommandHasItsOwn) {
  for (const std::string subcommand : {"run", "analyze", "bisect", "backends"}) {
    const Finished finished = run_tool({subcommand, "-h"});
    EXPECT_EQ(finished.exit_code, 0) << describe(finished);
    EXPECT_TRUE(contains(finished.out, "Usage: repro-minify " + subcommand + " [OPTIONS]")) << describe(finished);
  }
}

TEST(Backends, AreAllListed) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR(); // help_test.cpp asks for the same list as JSON
  const Finished finished = run_tool({"backends"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  std::istringstream names(
      "eager jit nnc freeze optimize-for-inference static-runtime autocast pass: peephole constant-propagation cse dce "
      "remove-mutation remove-inplace-ops fuse-add-relu fold-conv-bn fuse-linear decompose-ops batch-mm lower-tuples");
  for (std::string name; names >> name;)
    EXPECT_TRUE(contains(finished.out, name)) << "no mention of " << name << "\n" << finished.out;
}

TEST(APassingModel, IsSaidToPass) {
  const TemporaryFolder folder;
  const Case one = case_named("jit_type_as_dce");
  const Finished checked = run_tool({"run", one.model(), "--backend", "eager", "--json"});
  EXPECT_EQ(checked.exit_code, 0) << describe(checked);
  EXPECT_EQ(nlohmann::json::parse(checked.out).at("verdict").at("outcome"), "pass");

  const Finished reduced = run_tool({one.model(), "--backend", "eager", "-o", folder / "x.repro"});
  EXPECT_EQ(reduced.exit_code, 1) << describe(reduced);
  EXPECT_FALSE(fs::exists(folder / "x.repro" / "repro.cpp"));
}

TEST(Inputs, ComeInManyWays) {
  const Case one = case_named("jit_type_as_dce");
  const TemporaryFolder folder;
  fs::copy_file(one.model(), folder / "alone.pt");
  const std::string model = folder / "alone.pt";
  const std::vector<std::vector<std::string>> ways = {
      {model, "--inputs", one.inputs()},
      {model, "--inputs", fixtures() / "inputs" / "dict.pt"},
      {model, "--input", "f32[4,6]", "--input", "f32[4,6]"},
      {fixtures() / "inputs" / "bundled.pt"},
  };
  for (std::vector<std::string> arguments : ways) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--backend", "jit", "--json"});
    const Finished finished = run_tool(arguments);
    EXPECT_EQ(finished.exit_code, 1) << describe(finished);
    EXPECT_EQ(nlohmann::json::parse(finished.out).at("verdict").at("kind"), "accuracy");
  }
}

/// Less than a millisecond is one, not none: no limit at all.
TEST(Timeout, IsNeverRoundedToNone) {
  const Case one = case_named("jit_type_as_dce");
  const Finished finished = run_tool({"run", one.model(), "--backend", "jit", "--timeout", "0.0001"});
  expect_one_clear_sentence(finished, "reading it takes more than 0.001 s");
}

/// The machine's trouble is neither the model's nor the user's.
TEST(ExitCodes, InternalErrorsHaveOneOfTheirOwn) {
  const Case one = case_named("jit_type_as_dce");
  const Finished finished = run_program(
      {"env", "TMPDIR=/proc", test_paths::program, "run", one.model(), "--backend", "command:true --serve"});
  EXPECT_EQ(finished.exit_code, 70) << describe(finished);
  EXPECT_NE(finished.err.find("the machine does not give what is needed"), std::string::npos) << describe(finished);
}

/// The machine gives no folder to a backend that is started once; the first one needs none.
TEST(RunOfSeveral, IsValidJsonWhateverIsThrown) {
  const Case one = case_named("jit_type_as_dce");
  const Finished finished = run_program({"env", "TMPDIR=/proc", test_paths::program, "run", one.model(), "--json",
                                         "--backend", "jit", "--backend", "command:true --serve"});
  EXPECT_EQ(finished.exit_code, 70) << describe(finished);
  ASSERT_TRUE(nlohmann::json::accept(finished.out)) << describe(finished);
  EXPECT_TRUE(nlohmann::json::parse(finished.out).is_array());
}

/// Reduces with a compiler that does not come to an end before the budget does; `python` runs repro.py.
Finished reduce_beside_a_slow_compiler(const TemporaryFolder &folder, const fs::path &repro, const std::string &python,
                                       const std::string &budget = "8") {
  const fs::path compiler = folder / "slow_compiler";
  std::ofstream(compiler) << "#!/bin/sh\n[ \"$1\" = --version ] && echo slow 1 && exit\nsleep 600\n";
  fs::permissions(compiler, fs::perms::owner_all);
  return run_program({"env", "CXX=" + compiler.string(), test_paths::program, case_named("jit_type_as_dce").model(),
                      "--backend", "jit", "--python", python, "-o", repro, "--time-budget", budget});
}

/// All of it ends with the budget: a repro that cannot be built in time is handed over, and is not called verified.
TEST(TimeBudget, EndsVerificationToo) {
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished = reduce_beside_a_slow_compiler(folder, repro, "/bin/false");
  EXPECT_EQ(finished.exit_code, 4) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "the time budget was spent before it could be")) << describe(finished);
  EXPECT_TRUE(fs::exists(repro / "repro.cpp"));
  const auto report = nlohmann::json::parse(read_text(repro / "report.json"));
  EXPECT_TRUE(report.at("verified").is_null()) << report;
  EXPECT_EQ(report.at("out_of_time"), true);
  EXPECT_EQ(report.at("interrupted"), false);
  EXPECT_TRUE(contains(report.at("verification"), "time budget")) << report;
  EXPECT_TRUE(contains(read_text(repro / "report.md"), "time budget"));
}

/// A slow machine may not have run repro.py before the budget ends; where it was run, it counts.
TEST(TimeBudget, LeavesWhatReproPyHasShown) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      reduce_beside_a_slow_compiler(folder, repro, test_paths::python, everything_is_asked_for() ? "90" : "8");
  const auto report = nlohmann::json::parse(read_text(repro / "report.json"));
  const bool was_run = fs::exists(repro / "repro.py"); // it is kept where it was seen to fail
  if (everything_is_asked_for()) {
    EXPECT_TRUE(was_run) << "in 90 seconds\n" << describe(finished);
  }
  EXPECT_EQ(finished.exit_code, was_run ? 0 : 4) << describe(finished);
  EXPECT_EQ(report.at("verified") == true, was_run) << report;
  EXPECT_EQ(report.at("out_of_time"), true);
  EXPECT_TRUE(contains(report.at("verification"), was_run ? "repro.cpp was not built, as the time budget" : "budget"));
}

/// The steps before the search are done in any case: there is always something to keep.
TEST(TimeBudget, OfNothingKeepsTheModel) {
  const Case one = case_named("jit_type_as_dce");
  const TemporaryFolder folder;
  const fs::path repro = folder / "x.repro";
  const Finished finished =
      run_tool({one.model(), "--backend", "jit", "-o", repro, "--time-budget", "0.001", "--no-verify"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  const auto report = nlohmann::json::parse(read_text(repro / "report.json"));
  EXPECT_EQ(report.at("out_of_time"), true);
  EXPECT_EQ(report.at("interrupted"), false);
  EXPECT_EQ(report.at("checks"), 0);
  EXPECT_TRUE(contains(report.at("bisect").at("message"), "the time budget was spent")) << report;
  EXPECT_TRUE(fs::exists(repro / "reduced.pt"));
}

TEST(HostileNames, AreOnlyNames) {
  const Case one = case_named("jit_type_as_dce");
  const TemporaryFolder folder;
  const fs::path place = folder / "it's a \"$HOME\" `of` ${TMP}; models";
  fs::create_directory(place);
  fs::copy_file(one.model(), place / "don't \"panic\".pt");
  fs::copy_file(one.inputs(), place / "inputs.pt");
  const fs::path repro = place / "the 'repro' $(touch pwned) of it";
  const Finished finished =
      run_tool({place / "don't \"panic\".pt", "--backend", "jit", "-o", repro, "--quiet", verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(nlohmann::json::parse(read_text(repro / "report.json")).at("verified"), true);
  EXPECT_FALSE(fs::exists("pwned")) << "in " << fs::current_path();
  for (const auto &entry : fs::recursive_directory_iterator(folder.path()))
    EXPECT_NE(entry.path().filename(), "pwned") << entry.path();
}

TEST(Anonymous, TheIssueDoesNotSayWhereTheModelComesFrom) {
  const Case one = case_named("jit_type_as_dce");
  const TemporaryFolder folder;
  const fs::path model = folder / "private_model.pt";
  fs::copy_file(one.model(), model);
  fs::copy_file(one.inputs(), folder / "inputs.pt");
  const auto issue_of = [&](std::vector<std::string> more) {
    const fs::path repro = folder / ("x" + std::to_string(more.size()));
    more.insert(more.end(), {model, "--backend", "jit", "-o", repro, "--quiet", "--no-bisect", "--no-verify"});
    const Finished finished = run_tool(more);
    EXPECT_EQ(finished.exit_code, 0) << describe(finished);
    return read_text(repro / "issue.md");
  };
  EXPECT_TRUE(contains(issue_of({}), "private_model"));
  const std::string anonymous = issue_of({"--anonymous"});
  EXPECT_TRUE(contains(anonymous, "Reduced by repro-minify")) << anonymous;
  EXPECT_FALSE(contains(anonymous, "private_model")) << anonymous;
  EXPECT_FALSE(contains(anonymous, folder.path().string())) << anonymous;
}

/// The other backends keep theirs.
TEST(PythonOf, IsTheInterpreterOfThatBackend) {
  const TemporaryFolder folder;
  const fs::path python = folder / "own_python";
  std::ofstream(python) << "#!/bin/sh\ntouch '" << (folder / "was_asked").string() << "'\nexit 1\n";
  fs::permissions(python, fs::perms::owner_all);
  const auto run_both = [&](const std::string &backend) {
    return run_tool({"run", case_named("jit_type_as_dce").model(), "--backend", "jit", "--backend", "inductor",
                     "--python", "/bin/false", "--python-of", backend + "=" + python.string(), "--no-timing"});
  };
  const Finished of_inductor = run_both("inductor");
  EXPECT_TRUE(fs::exists(folder / "was_asked")) << describe(of_inductor);
  EXPECT_TRUE(contains(of_inductor.out, "FAIL")) << "jit needs no Python\n" << describe(of_inductor);
  EXPECT_TRUE(contains(of_inductor.err, "--backend inductor: ")) << describe(of_inductor);
  EXPECT_TRUE(contains(of_inductor.err, python.string())) << describe(of_inductor);
}

TEST(ListPasses, NamesThemAndDoesNothing) {
  const Finished finished = run_tool({"--list-passes"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  for (const char *pass : {"\ncut ", "\ncopies ", "\nsplice "})
    EXPECT_TRUE(contains(finished.out, pass)) << pass << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
