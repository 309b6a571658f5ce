// Tests of the files that MODEL may be beside TorchScript: torch.export's, those that torch.compile leaves behind, logs
// of TORCH_TRACE, models with custom operators; and of those that it may not be, each with its sentence.
#include "all_tests.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using nlohmann::json;

const fs::path doors = fs::path(test_paths::fixtures) / "doors";

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

void write(const fs::path &file, const std::string &bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

struct Refusal {
  std::string name, bytes; ///< of the file
  std::string is;          ///< part of the sentence
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, ByContentWithASentence) {
  const TemporaryFolder folder;
  const fs::path file = folder / GetParam().name;
  write(file, GetParam().bytes);
  const Finished finished = run_tool({"run", file, "--backend", "jit"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_TRUE(contains(finished.err, GetParam().name + ": ")) << describe(finished);
  EXPECT_TRUE(contains(finished.err, GetParam().is)) << describe(finished);
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << describe(finished);
}

INSTANTIATE_TEST_SUITE_P(
    FrontDoors, Refused,
    testing::Values(
        Refusal{"model.pt", "\x80\x02"s + "ctorch.nn.modules.linear\nLinear\nq\0)\x81q\1."s, "modules.linear.Linear"},
        Refusal{"weights.pt", "\x80\x02"s + "ccollections\nOrderedDict\nq\0)Rq\1."s, "a state dict"},
        Refusal{"weights.safetensors", "\x10\0\0\0\0\0\0\0"s + "{\"a\":{\"dtype\":0}}"s, "a safetensors file"},
        Refusal{"model.onnx", "\x08\x07\x12\x07pytorch\x1a\x05"s + "2.1.0" + std::string(40, '\0'), "an ONNX model"},
        Refusal{"model.h5", "\x89HDF\r\n\x1a\n"s + std::string(40, '\0'), "an HDF5 file"},
        Refusal{"model.gguf", "GGUF\3"s + std::string(40, '\0'), "a GGUF file"},
        Refusal{"model.pte", std::string(4, '\0') + "ET12" + std::string(40, '\0'), "an ExecuTorch program"},
        Refusal{"model.so",
                "\x7f"
                "ELF"s +
                    std::string(40, '\0'),
                "a shared library"},
        Refusal{"empty.zip", "PK\x05\x06"s + std::string(18, '\0'), "not a TorchScript archive"},
        Refusal{"cut.pt2", "PK\x03\x04"s + std::string(60, '\0'), "cut short"},
        Refusal{"train.py", "import torch\nprint(torch.ones(2))\n", "none that torch.compile left behind"},
        Refusal{"notes.txt", "my notes\n", "not a TorchScript archive"}),
    [](const auto &info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

class FrontDoors : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(test_paths::python).empty())
      GTEST_SKIP() << "no Python with torch here";
  }
  json report() const { return json::parse(read_text(out_ / "report.json")); }

  const TemporaryFolder folder_;
  const fs::path out_ = folder_ / "out";
};

/// They have keywords, nested inputs, a buffer that is written to, constants, symbolic sizes, branches. Each takes
/// seconds of a Python that imports torch.
TEST_F(FrontDoors, EveryExportedModelRunsOnItsOwnInputs) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::map<std::string, std::string> said_of = {{"dynamic.pt2", "x: dimension 0 ("},
                                                      {"branch.pt2", "the branch that its inputs take (true) is kept"}};
  int models = 0;
  for (const auto &entry : fs::directory_iterator(doors / "exported")) {
    const auto said = said_of.find(entry.path().filename());
    const Finished finished = run_tool({"run", entry.path(), "--backend", "pass:dce", "--json"});
    ASSERT_EQ(finished.exit_code, 0) << entry.path() << describe(finished);
    const json answer = json::parse(finished.out);
    EXPECT_TRUE(contains(answer.at("converted").get<std::string>(), "inputs: the example inputs inside")) << answer;
    EXPECT_EQ(answer.at("model"), entry.path().string());
    EXPECT_TRUE(said == said_of.end() || contains(finished.err, said->second)) << describe(finished);
    ++models;
  }
  EXPECT_EQ(models, 14);
}

TEST_F(FrontDoors, ReducesAnExportedModel) {
  const Finished finished =
      run_tool({doors / "exported" / "norm.pt2", "--backend", "freeze", "-o", out_, "--no-verify"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(contains(report().at("converted").get<std::string>(), "torch.export")) << report();
  EXPECT_TRUE(contains(report().at("model").get<std::string>(), "norm.pt2"));
  EXPECT_LE(report().at("after").at("operators").get<int>(), 2) << report().at("after");
  EXPECT_TRUE(contains(read_text(out_ / "report.md"), "converted from a torch.export archive"));
  // The converted model is a model like any other, with its inputs inside.
  const Finished again = run_tool({"run", out_ / "converted.pt", "--backend", "freeze"});
  EXPECT_EQ(again.exit_code, 1) << describe(again);
}

/// A trace has no `_foreach_` operator, and passes: under inductor the calls are kept, parameters as inputs. Where the
/// inputs are given, it is the trace that they are given to, and that is compared with the exported program.
TEST_F(FrontDoors, KeepsTheCallsOfAnExportedModel) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string mirror = doors / "exported" / "mirror.pt2";
  const Finished finished = run_tool({mirror, "--backend", "inductor", "-o", out_, "--no-verify", "--no-bisect"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(report().at("after").at("operators"), 2) << report().at("program");
  EXPECT_TRUE(contains(read_text(out_ / "repro.py"), "_foreach_mul_")) << read_text(out_ / "repro.py");
  const Finished given = run_tool({mirror, "--backend", "inductor", "--inputs", out_ / "converted_inputs.pt", "-o",
                                   folder_ / "given", "--no-verify"});
  EXPECT_EQ(given.exit_code, 1) << describe(given);
  EXPECT_TRUE(contains(given.err, "it fails: result 0 is another than in eager; its TorchScript does not call "
                                  "aten::_foreach_mul_"))
      << describe(given);
}

/// The one takes calls of torch.fx, the other a trace.
TEST_F(FrontDoors, TakeTheFormThatEachBackendTakes) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = run_tool({"run", doors / "exported" / "mirror.pt2", "--backend", "inductor,jit", "--json"});
  const json rows = json::parse(finished.out);
  ASSERT_EQ(rows.size(), 2u) << describe(finished);
  EXPECT_EQ(rows[0].at("verdict").at("outcome"), "fail");
  EXPECT_EQ(rows[1].at("verdict").at("outcome"), "pass");
}

TEST_F(FrontDoors, ConvertsAndLoadsOnceForSeveralBackends) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished =
      run_tool({"run", doors / "exported" / "norm.pt2", "--backend", "eager,freeze,pass:dce", "--json"});
  const json rows = json::parse(finished.out);
  ASSERT_EQ(rows.size(), 3u) << describe(finished);
  EXPECT_EQ(rows[1].at("verdict").at("outcome"), "fail");
  const std::string converted = "norm.pt2: converted from";
  const auto first = finished.err.find(converted);
  ASSERT_NE(first, std::string::npos) << describe(finished);
  EXPECT_EQ(finished.err.find(converted, first + 1), std::string::npos) << describe(finished);
}

TEST_F(FrontDoors, OfAnExportedModelOtherInputsCount) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished =
      run_tool({"run", doors / "exported" / "linear.pt2", "--backend", "pass:dce", "--input", "f32[7,4]", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(contains(finished.out, "float32[7, 2]")) << describe(finished);
}

/// The data lies beside the program, which a link names.
TEST_F(FrontDoors, ReducesWhatTorchCompileLeftBehind) {
  const fs::path link = folder_ / "linked.py";
  fs::create_symlink(doors / "compiled" / "mlp_dynamo_compile_error" / "minifier_launcher.py", link);
  const Finished finished = run_tool({link, "-o", out_, "--no-verify", "--no-bisect"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(report().at("backend"), "inductor");
  EXPECT_EQ(report().at("after").at("operators"), 1) << report().at("after");
  const std::string converted = report().at("converted");
  EXPECT_TRUE(contains(converted, "the data that was saved beside it")) << converted;
  EXPECT_TRUE(contains(converted, "cpp.inject_relu_bug_TESTING_ONLY=compile_error")) << converted;
  EXPECT_TRUE(contains(read_text(out_ / "repro.py"), "config.cpp.inject_relu_bug_TESTING_ONLY = 'compile_error'"));
}

TEST_F(FrontDoors, TakesOneGraphOfALog) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const fs::path log = doors / "logged" / "trace.log";
  const Finished third = run_tool({"run", log, "--graph", "3"});
  EXPECT_EQ(third.exit_code, 1) << describe(third);
  EXPECT_TRUE(contains(third.out, "trace.log, graph 3")) << describe(third);
  const Finished ninth = run_tool({"run", log, "--graph", "9"});
  EXPECT_EQ(ninth.exit_code, 2) << describe(ninth);
  EXPECT_TRUE(contains(ninth.err, "has 5 graphs")) << describe(ninth);
}

/// Each is checked, and the one that fails is reduced.
TEST_F(FrontDoors, ListsTheGraphsOfALogAndReducesTheOneThatFails) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished =
      run_tool({doors / "logged" / "trace.log", "-o", out_, "--no-verify", "--no-bisect"}, std::chrono::minutes(30));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  for (const char *line : {"graph 1 (0/0)", "graph 3 (2/0), 6 operators: FAILS: accuracy", "graph 5 (4/0)"})
    EXPECT_TRUE(contains(finished.err, line)) << line << describe(finished);
  EXPECT_TRUE(contains(report().at("model").get<std::string>(), "graph 3")) << report().at("model");
}

/// A program is run: it reads what it needs, and neither writes elsewhere nor has a network.
TEST_F(FrontDoors, ConfinesTheProgramThatItRuns) {
  const fs::path victim = folder_ / "secret.txt", program = folder_ / "repro.py";
  write(victim, "secret");
  std::ofstream(program) << "import socket\ncould = []\n"
                         << "def attempt(name, deed):\n  try:\n    deed()\n    could.append(name)\n"
                         << "  except OSError:\n    pass\n"
                         << "attempt('read', lambda: open(" << victim << ").read())\n"
                         << "attempt('write', lambda: open(" << folder_ / "made.txt"
                         << ", 'w'))\n"
                         << "attempt('connect', lambda: socket.socket(socket.AF_INET))\n"
                         << "def load_args(reader): pass\ndef run_repro(): pass\n"
                         << "raise RuntimeError('could ' + ','.join(could) + '.')\n";
  const Finished finished = run_tool({"run", program});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_FALSE(fs::exists(folder_ / "made.txt"));
  if (contains(finished.err, "this kernel"))
    GTEST_SKIP() << "this machine confines nothing";
  EXPECT_TRUE(contains(finished.err, "could .")) << describe(finished);
}

/// A trace is compared with the program that was traced: this one gives other results while it is traced.
TEST_F(FrontDoors, RefusesWhatIsAnotherOnceItIsConverted) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const fs::path program = folder_ / "repro.py";
  write(program, R"(import torch
from torch._dynamo.repro.after_aot import run_repro


class Repro(torch.nn.Module):
    def forward(self, x):
        return x.sin() * (2 if torch.jit.is_tracing() else 3)


def load_args(reader):
    reader.tensor(reader.storage(None, 16), (4,), is_leaf=True)


run_repro(Repro(), load_args)
)");
  const Finished finished = run_tool({"run", program, "--backend", "jit"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "result 0 is another")) << describe(finished);
}

/// tlparse's folder has a file for each graph, at the level of AOT, with no data: it is drawn, and that is said.
TEST_F(FrontDoors, TakesAFolderOfTlparseAndDrawsTheDataThatIsNotThere) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const fs::path compiled = doors / "compiled" / "conv_aot_runtime_error" / "minifier_launcher.py";
  const fs::path graphs = folder_ / "parsed";
  for (const char *name : {"-_0_0_0", "-_1_0_0"}) {
    fs::create_directories(graphs / name);
    fs::copy_file(compiled, graphs / name / "fx_graph_runnable_7.txt");
  }
  const Finished finished = run_tool({"run", graphs, "--graph", "2", "--seed", "7"});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "graph 2 of 2 (1/0)")) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "drawn as PyTorch draws them (seed 7)")) << describe(finished);
}

class OperatorsOfOnesOwn : public FrontDoors {
protected:
  /// Makes the models, which takes seconds of a Python, and gives the path of one.
  std::string made(const std::string &model) const {
    const Finished finished =
        run_program({test_paths::python, "-B", test_paths::odd_models, test_paths::odd_operators, folder_.path()});
    EXPECT_EQ(finished.exit_code, 0) << describe(finished);
    return folder_ / model;
  }
  Finished reduce(const std::string &model, const std::string &backend) const {
    return run_tool(
        {made(model), "--backend", backend, "--load-library", test_paths::odd_operators, "-o", out_, verify});
  }
};

TEST_F(OperatorsOfOnesOwn, AreNamedWhereTheirLibraryIsNot) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = run_tool({"run", made("beside.pt"), "--backend", "freeze"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "odd::scale")) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "--load-library FILE.so")) << describe(finished);
}

TEST_F(OperatorsOfOnesOwn, AreTakenOutWhereTheyHaveNoPart) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = reduce("beside.pt", "freeze");
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_LE(report().at("after").at("operators").get<int>(), 2) << report().at("after");
  EXPECT_FALSE(contains(report().at("program").at("source").get<std::string>(), "odd")) << report().at("program");
}

/// The repro is built, and run, with the library beside it.
TEST_F(OperatorsOfOnesOwn, AreWhatIsWrong) {
  const Finished finished = reduce("itself.pt", "jit");
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(contains(report().at("program").at("source").get<std::string>(), "halve")) << report().at("program");
  EXPECT_TRUE(fs::exists(out_ / "operators.so"));
  EXPECT_TRUE(contains(read_text(out_ / "repro.cpp"), "operators.so"));
  EXPECT_TRUE(contains(read_text(out_ / "repro.py"), "load_library")) << read_text(out_ / "report.md");
  EXPECT_TRUE(contains(read_text(out_ / "report.md"), "operators of its own | operators.so"));
}

TEST_F(OperatorsOfOnesOwn, AreNamedWhereAnExportedModelCallsThem) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = run_tool({"run", made("beside.pt2"), "--backend", "freeze"});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "calls odd::")) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "--load-library FILE.so")) << describe(finished);
}

TEST_F(OperatorsOfOnesOwn, AreLoadedWhereAnExportedModelIsConverted) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished =
      run_tool({"run", made("beside.pt2"), "--backend", "freeze", "--load-library", test_paths::odd_operators});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
