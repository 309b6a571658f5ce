// Tests of the parts that only the inductor backend has: a Python worker whose children crash, hang, fail to compile,
// and give gradients.
#include "all_tests.h"
#include "cases.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include <csignal>
#include <unistd.h>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Inductor : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(test_paths::python).empty())
      GTEST_SKIP() << "no Python with torch here";
  }

  /// A C++ compiler that answers questions about itself, and does this when it should compile.
  std::string compiler(const std::string &deed) const {
    const fs::path script = folder_ / "compiler.sh";
    std::ofstream(script) << "#!/bin/sh\ncase \"$*\" in\n*.cpp*) " << deed << " ;;\nesac\nexec g++ \"$@\"\n";
    fs::permissions(script, fs::perms::owner_all);
    return "cpp.cxx=(None, '" + script.string() + "')";
  }

  /// A model of this function f in Python, with these values as its inputs.
  std::string traced(const std::string &function, const std::string &values) const {
    const std::string model = folder_ / "model.pt", inputs = folder_ / "inputs.pt";
    const std::string code = "import torch, sys\n" + function + "\nvalues = " + values +
                             "\ntorch.jit.trace(f, values).save(sys.argv[1])\ntorch.save(values, sys.argv[2])\n";
    EXPECT_EQ(run_program({test_paths::python, "-c", code, model, inputs}).exit_code, 0);
    return model;
  }

  static json run(const std::string &model, std::vector<std::string> more, int exit_code) {
    std::vector<std::string> arguments = {"run", case_named(model).model(), "--json", "--backend", "inductor",
                                          "--python", test_paths::python,
                                          // One check is too few for a header compiled in advance to pay.
                                          "--inductor-config", "cpp_cache_precompile_headers=False"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_tool(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << describe(finished);
    return finished.out.empty() ? json::object() : json::parse(finished.out);
  }

  static json first_signature(const json &answer) { return answer.at("details").at("signatures").at(0); }

  TemporaryFolder folder_;
};

TEST_F(Inductor, ACrashOfItsChildIsACrash) {
  const json answer = run("inductor_191499_u8_min", {"--inductor-config", compiler("kill -SEGV $PPID")}, 1);
  EXPECT_EQ(answer.at("verdict").at("kind"), "crash");
  EXPECT_EQ(first_signature(answer).at("detail"), "signal 11");
}

TEST_F(Inductor, AHangOfItsChildIsAHangAndLeavesNothing) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string seconds = "600." + std::to_string(getpid()); // no other process sleeps for that long
  const json answer =
      run("inductor_191499_u8_min", {"--timeout", "10", "--inductor-config", compiler("sleep " + seconds)}, 1);
  EXPECT_EQ(answer.at("verdict").at("kind"), "hang");
  EXPECT_FALSE(sleeps(seconds)) << "the compiler still runs";
}

TEST_F(Inductor, AnErrorOfTheCompilerIsItsFirstSentence) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const json answer = run("inductor_191499_u8_min",
                          {"--inductor-config", compiler("echo '/a/b.cpp:7:9: error: no such thing' >&2; exit 1")}, 1);
  EXPECT_EQ(answer.at("verdict").at("kind"), "exception");
  EXPECT_EQ(first_signature(answer).at("detail"), "C++ compile error: no such thing");
}

/// TorchScript's loader would drop the write to what it takes for a fresh tensor, and the backend be blamed for it.
TEST_F(Inductor, IsHandedWritesThroughAnUndeclaredAlias) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  run("jit_type_as_dce", {"--inductor-config", compiler("true")}, 0);
}

/// In deterministic mode TorchInductor would leave this operator to ATen, and a fault of its own would pass.
TEST_F(Inductor, OperatorsAreCompiledAsTheyAreForUsers) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string model = traced("def f(x, i, y): return torch.index_add(x, 0, i, y)",
                                   "(torch.zeros(4, 3), torch.tensor([1, 1]), torch.ones(2, 3))");
  const std::string deed = "for word; do case $word in *.cpp) grep -q 'out of bounds' $word && "
                           "echo '/a/b.cpp:7:9: error: compiled' >&2 && exit 1;; esac; done";
  const Finished finished =
      run_tool({"run", model, "--backend", "inductor", "--python", test_paths::python, "--inductor-config",
                "cpp_cache_precompile_headers=False", "--inductor-config", compiler(deed)});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_NE(finished.out.find("C++ compile error: compiled"), std::string::npos) << describe(finished);
}

/// With rounding between operators it passes, as 0.3 is no number of bfloat16: an issue may be closed for that.
TEST_F(Inductor, RoundsBetweenOperatorsWhereThatIsAsked) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string model =
      traced("def f(x): return torch.clamp(x, max=0.3) == 0.3", "(torch.full((32,), 0.5, dtype=torch.bfloat16),)");
  std::vector<std::string> words = {"run", model, "--backend", "inductor", "--python", test_paths::python};
  const Finished usual = run_tool(words);
  EXPECT_EQ(usual.exit_code, 1) << describe(usual);
  words.emplace_back("--emulate-precision-casts");
  const Finished emulated = run_tool(words);
  EXPECT_EQ(emulated.exit_code, 0) << describe(emulated);
}

/// Values of random numbers are compared by those that eager draws, and no dtype of TorchInductor's own is seen so.
TEST_F(Inductor, IsAskedWithItsOwnGeneratorWhereTheModelDrawsAndPasses) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string said = "with those of TorchInductor (--inductor-config fallback_random=false) it does not";
  const std::string model = traced("def f(x, y): return torch.normal(x, y)", "(torch.ones(2).half(), torch.ones(2))");
  std::vector<std::string> words = {"run",
                                    model,
                                    "--backend",
                                    "inductor",
                                    "--python",
                                    test_paths::python,
                                    "--inductor-config",
                                    "cpp_cache_precompile_headers=False"};
  const Finished own = run_tool(words);
  EXPECT_EQ(own.exit_code, 1) << describe(own);
  EXPECT_NE(own.err.find(said), std::string::npos) << describe(own);
  EXPECT_NE(own.out.find("dtype float16 expected, float32 found"), std::string::npos) << describe(own);
  words.insert(words.end(), {"--inductor-config", "fallback_random=true"});
  const Finished as_eager = run_tool(words);
  EXPECT_EQ(as_eager.exit_code, 0) << describe(as_eager);
  const Finished right = run_tool({"run", traced("def f(x): return torch.rand_like(x) + x", "(torch.ones(2),)"),
                                   "--backend", "inductor", "--python", test_paths::python});
  EXPECT_EQ(right.exit_code, 0) << describe(right);
}

TEST_F(Inductor, AFailureThatShowsFromPythonOnlyHasAReproThatSaysSo) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string repro = folder_ / "repro";
  const Finished finished = run_tool(
      {case_named("inductor_191499_u8_min").model(), "--backend", "inductor", "--python", test_paths::python,
       "--inductor-config", compiler("echo '/a/b.cpp:7:9: error: no such thing' >&2; exit 1"), "-o", repro,
       "--no-bisect", "--quiet", "--passes", "cut", "--inductor-config", "cpp_cache_precompile_headers=False", verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(repro + "/report.json"));
  EXPECT_EQ(report.at("verified"), true);
  EXPECT_EQ(report.at("files").back(), "test_repro.py");
  const std::string source = read_text(repro + "/repro.cpp");
  EXPECT_NE(source.find("It shows from Python only: the failure is of the kind exception."), std::string::npos)
      << source;
  EXPECT_NE(read_text(repro + "/report.md").find("It shows from Python only"), std::string::npos);
  EXPECT_FALSE(fs::exists(repro + "/model.pt2"));
}

/// When that shows, repro.cpp has been written, and is being built.
TEST_F(Inductor, AFailureThatTurnsOutToShowFromPythonOnlyHasSuchAReproToo) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string repro = folder_ / "repro";
  const std::string deed = "case \"$*\" in *.wrapper.cpp*) sleep 5; echo '/a/b.cpp:7:9: error: no such thing' >&2; "
                           "exit 1;; esac";
  const Finished finished =
      run_tool({case_named("inductor_191499_u8_min").model(), "--backend", "inductor", "--python", test_paths::python,
                "--inductor-config", compiler(deed), "-o", repro, "--no-bisect", "--quiet", "--passes", "cut",
                "--inductor-config", "cpp_cache_precompile_headers=False", "--ablation"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(json::parse(read_text(repro + "/report.json")).at("verified"), true);
  const std::string source = read_text(repro + "/repro.cpp");
  EXPECT_NE(source.find("It shows from Python only: compiling ahead of time raises: "), std::string::npos) << source;
  EXPECT_FALSE(fs::exists(repro + "/model.pt2"));
  const std::string issue = read_text(repro + "/issue.md");
  for (const char *row : {"- Passes: torch.compile, backend=eager; torch.compile, backend=aot_eager; "
                          "torch.compile, backend=aot_eager_decomp_partition; inductor, cpp.simdlen=1\n",
                          "; inductor, emulate_precision_casts=True; inductor, dynamic=True\n"})
    EXPECT_NE(issue.find(row), std::string::npos) << issue;
}

/// It is TorchInductor's reports that are read: issue.md of every backend says whether it fails too.
TEST_F(Inductor, IsAskedAboutWhatTorchScriptGetsWrong) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string repro = folder_ / "repro";
  const Finished finished = run_tool({case_named("jit_type_as_dce").model(), "--backend", "jit", "--python",
                                      test_paths::python, "-o", repro, "--no-bisect", "--ablation"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const std::string issue = read_text(repro + "/issue.md");
  const size_t passes = issue.find("- Passes: ");
  EXPECT_NE(issue.substr(passes, issue.find('\n', passes) - passes).find("inductor"), std::string::npos) << issue;
  EXPECT_NE(issue.find("`oncall: jit`: only TorchScript is wrong"), std::string::npos) << issue;
}

/// Importing torch and Inductor takes seconds, and a header that is compiled first many more.
TEST_F(Inductor, IsInterruptedWhileItStarts) {
  const std::string seconds = "700." + std::to_string(getpid());
  const fs::path python = folder_ / "python";
  std::ofstream(python) << "#!/bin/sh\ncase \"$*\" in\n*worker.py*) exec sleep " << seconds << ";;\nesac\nexec "
                        << test_paths::python << " \"$@\"\n";
  fs::permissions(python, fs::perms::owner_all);
  RunningProgram program({test_paths::program, "run", case_named("inductor_191499_u8_min").model(), "--backend",
                          "inductor", "--python", python});
  ASSERT_TRUE(program.wait_until([&] { return sleeps(seconds); }, std::chrono::seconds(300)))
      << describe(program.wait(std::chrono::seconds(1)));
  program.send_signal(SIGINT);
  const Finished finished = program.wait(std::chrono::seconds(300)); // the worker has ten minutes to start
  EXPECT_EQ(finished.exit_code, 130) << describe(finished);
  EXPECT_FALSE(sleeps(seconds));
}

TEST_F(Inductor, ComparesGradients) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const json answer = run("grad_clamp_tensor_missing", {"--grad"}, 0);
  EXPECT_GT(answer.at("details").at("gradients").size(), 0u);
}

TEST_F(Inductor, FollowsControlFlow) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  run("jit_75794_loop_swap", {}, 0);
}

TEST_F(Inductor, AGraphWithControlFlowIsLeftToDynamoAndRefusedByTheOtherFrontEnd) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  run("jit_75794_loop_swap", {"--inductor-config", "frontend=dynamo"}, 0);
  const Finished finished = run_tool({"run", case_named("jit_75794_loop_swap").model(), "--backend", "inductor",
                                      "--python", test_paths::python, "--inductor-config", "frontend=fx"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("inductor cannot take this program: frontend=fx: prim::Loop"), std::string::npos)
      << finished.err;
}

TEST_F(Inductor, BothFrontEndsFailInTheSameWay) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  json verdicts = json::array();
  for (const char *front_end : {"frontend=dynamo", "frontend=fx"})
    verdicts.push_back(run("inductor_183763_sinh_overflow", {"--inductor-config", front_end}, 1).at("verdict"));
  EXPECT_EQ(verdicts[0].at("kind"), "nan");
  EXPECT_EQ(verdicts[0].at("message"), verdicts[1].at("message"));
}

TEST_F(Inductor, PyTorchsOwnBisectorNamesTheOperator) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  // Which of the first one's results is wrong depends on how wide the processor's vectors are.
  const std::map<std::string, std::map<std::string, std::string>> operators = {
      {"inductor_191499_u8_min", {{"inductor/lowerings#1", "amin"}, {"inductor/lowerings#2", "argmin"}}},
      {"inductor_183763_sinh_overflow", {{"inductor/lowerings#1", "sinh"}}}};
  for (const auto &[name, operator_of] : operators) {
    const Finished finished = run_tool({"bisect", case_named(name).model(), "--json", "--quiet", "--backend",
                                        "inductor", "--python", test_paths::python});
    ASSERT_EQ(finished.exit_code, 0) << describe(finished);
    const json answer = json::parse(finished.out);
    const auto guilty = operator_of.find(answer.at("guilty").get<std::string>());
    ASSERT_NE(guilty, operator_of.end()) << finished.out;
    EXPECT_EQ(answer.at("confirmed"), true);
    EXPECT_NE(answer.at("note").get<std::string>().find("That is " + guilty->second + "."), std::string::npos)
        << finished.out;
    EXPECT_EQ(answer.at("checks").at(0).at("what"), "torch.compile(backend=\"eager\")");
  }
}

TEST_F(Inductor, AnUnknownEntryIsRefused) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = run_tool({"run", case_named("inductor_191499_u8_min").model(), "--backend", "inductor",
                                      "--python", test_paths::python, "--inductor-config", "cpp.simdlength=8"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("cpp.simdlength: torch._inductor.config has no such entry"), std::string::npos)
      << finished.err;
}

TEST_F(Inductor, AnUnknownFrontEndIsRefused) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = run_tool({"run", case_named("inductor_191499_u8_min").model(), "--backend", "inductor",
                                      "--python", test_paths::python, "--inductor-config", "frontend=export"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("frontend=export: unknown; known are dynamo, fx"), std::string::npos) << finished.err;
}

TEST_F(Inductor, SaysThatThereIsNoPython) {
  const Finished finished = run_tool(
      {"run", case_named("inductor_191499_u8_min").model(), "--backend", "inductor", "--python", folder_ / "nothing"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_NE(finished.err.find("not a Python with torch"), std::string::npos) << finished.err;
}

} // namespace
} // namespace repro_minify::end_to_end
