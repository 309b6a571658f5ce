// Programs of torch.fx, as Dynamo hands them to a backend: read, reduced and written as they are.
#include "all_tests.h"
#include "on_cuda.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class FxPrograms : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(test_paths::python).empty())
      GTEST_SKIP() << "no Python with torch here";
  }

  /// A program of these arguments and lines, with these values for its arguments, in a file of its own.
  std::string program(const std::string &arguments, const std::vector<std::string> &lines,
                      const std::string &values) const {
    const std::string path = folder_ / "program.py", data = folder_ / "data.pt";
    std::ofstream file(path);
    file << "# repro-minify: a program of torch.fx\nfrom pathlib import Path\n\nimport torch\n\n\n"
         << "class Repro(torch.nn.Module):\n    def forward(self, " << arguments << "):\n";
    for (const auto &line : lines)
      file << "        " << line << "\n";
    file << "\n\ndef load_args(device=None):\n    return torch.load(Path(__file__).with_name(\"data.pt\"))\n"
         << "\n\ndef run_repro():\n    pass\n\n\nif __name__ == \"__main__\":\n    run_repro()\n";
    file.close();
    const std::string save = "import torch, sys\ntorch.manual_seed(0)\ntorch.save(" + values + ", sys.argv[1])";
    EXPECT_EQ(run_program({test_paths::python, "-c", save, data}).exit_code, 0);
    return path;
  }

  /// `_foreach_mul_` that reads what it writes, between a few layers, one of which gives a tuple: TorchInductor of
  /// PyTorch 2.13 gets it wrong.
  std::string mirror() const {
    return program("x, weight, state, other",
                   {"h = torch.nn.functional.linear(x, weight)", "h = torch.nn.functional.gelu(h)",
                    "h = h - torch.var_mean(h, -1, keepdim=True)[1]", "torch._foreach_mul_([state], [state.flip(0)])",
                    "h = torch.nn.functional.layer_norm(h + state, (4,))", "return (h, other * 2)"},
                   "[torch.randn(3, 4), torch.randn(4, 4), torch.randn(4), torch.randn(4)]");
  }

  Finished minify(const std::string &path, const std::string &folder, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {
        path, "--backend", "inductor", "--python", test_paths::python, "--no-ablation", "-o", folder_ / folder};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words);
  }

  json report(const std::string &folder) const { return json::parse(read_text(folder_ / folder / "report.json")); }

  TemporaryFolder folder_;
};

/// tests/python/test_dynamo.py has a smaller one in each run of CI.
TEST_F(FxPrograms, AreReducedToWhatAPersonWrites) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = minify(mirror(), "out", {verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const std::string script = read_text(folder_ / "out" / "repro.py");
  EXPECT_NE(script.find("def f(state):\n    torch._foreach_mul_([state], [state.flip(0)])\n    return state\n"),
            std::string::npos)
      << script;
  const json facts = report("out");
  EXPECT_EQ(facts.at("after").at("operators"), 2);
  EXPECT_EQ(facts.at("verified"), true);
  EXPECT_NE(facts.at("program").at("source").get<std::string>().find("torch._foreach_mul_([state]"), std::string::npos);
  EXPECT_NE(read_text(folder_ / "out" / "repro.cpp").find("its calls are functions of Python"), std::string::npos);
}

TEST_F(FxPrograms, AreReducedTheSameByOneJobAndByTwo) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string path = mirror();
  for (const char *jobs : {"1", "2"}) {
    const Finished finished = minify(path, jobs, {"--no-bisect", "--jobs", jobs});
    ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  }
  const json one = report("1"), two = report("2");
  EXPECT_EQ(one.at("program").at("source"), two.at("program").at("source"));
  EXPECT_EQ(one.at("checks"), two.at("checks"));
}

/// A write through a view, and one through an item, have the values of that moment at every cut.
TEST_F(FxPrograms, KeepWhatWasWrittenInPlace) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string path = program("x, y",
                                   {"x[1:] = x[:-1].clone()", "v = x.view(-1)", "v.mul_(2)", "z = x + y",
                                    "torch._foreach_mul_([y], [y.flip(0)])", "return (z, y.exp(), x.sin())"},
                                   "[torch.arange(4.0), torch.randn(4)]");
  const Finished finished = minify(path, "out", {"--no-bisect"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(report("out").at("after").at("operators"), 2) << report("out").at("program").at("source");
}

/// These are given what a trace makes of the source. An archive of such calls has no other form.
TEST_F(FxPrograms, AreTracedForOtherBackends) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string path = mirror();
  const Finished traced = run_tool({"run", path, "--backend", "jit"});
  EXPECT_EQ(traced.exit_code, 0) << describe(traced);
  ASSERT_EQ(minify(path, "out", {"--no-verify", "--no-bisect", "--time-budget", "1"}).exit_code, 0);
  const Finished finished = run_tool({"run", folder_ / "out" / "converted.pt", "--backend", "jit"});
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_NE(finished.err.find("torch.fx"), std::string::npos) << describe(finished);
  EXPECT_EQ(finished.err.find("internal error"), std::string::npos) << describe(finished);
}

/// Most checks are answered by one process and its Python, on a device that is pretended in both.
TEST_F(FxPrograms, AreReducedOnADeviceByProcessesThatAreKept) {
  const std::string path =
      program("x, weight, other",
              {"h = torch.nn.functional.linear(x, weight)", "h = torch.sin(torch.relu(h))", "h = torch.sin(h + other)",
               "h = torch.nn.functional.layer_norm(h, (4,))", "h = torch.sin(h) * other", "return (h, other * 2)"},
              "[torch.randn(3, 4), torch.randn(4, 4), torch.randn(4)]");
  const std::string contexts = folder_ / "contexts";
  const std::string backend =
      std::string("torch-compile:") + test_paths::pretended_cuda_of_python + "/three_sines.py:three_sines_are_tangents";
  const Finished finished = run_on_cuda({path, "--backend", backend, "--python", test_paths::python, "--no-verify",
                                         "--no-bisect", "--no-ablation", "-o", folder_ / "out"},
                                        {"PRETENDED_CUDA_CONTEXTS=" + contexts});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json facts = report("out");
  EXPECT_EQ(facts.at("device"), "cuda");
  EXPECT_EQ(facts.at("after").at("operators"), 3) << facts.at("program");
  EXPECT_LT(fs::file_size(contexts), facts.at("checks").get<unsigned>() / 2 + 12);
}

} // namespace
} // namespace repro_minify::end_to_end
