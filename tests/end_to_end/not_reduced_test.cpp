// Tests that a model that cannot be reduced is handed back as it was given, with a repro that holds, and says so.
#include "all_tests.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class NotReduced : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(test_paths::python).empty())
      GTEST_SKIP() << "no Python with torch here";
    const fs::path script = folder_ / "make.py";
    std::ofstream(script) << make_models;
    ASSERT_EQ(run_program({test_paths::python, script, folder_.path()}).exit_code, 0);
  }

  Finished reduce(const std::string &model, const std::vector<std::string> &more) const {
    std::vector<std::string> arguments = {folder_ / (model + ".pt"), "-o", folder_ / "x.repro"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments);
  }
  json report() const { return json::parse(read_text(folder_ / "x.repro/report.json")); }

  /// Chosen: an object whose class is not known before it runs; beside it, a batch norm that freezing folds over the
  /// wrong axis. Nested: plain, but with a submodule. The backend gets programs wrong that have one.
  static constexpr const char *make_models = R"(
import sys, torch
from typing import List
out = sys.argv[1]
@torch.jit.interface
class Shape:
    def area(self, x: torch.Tensor) -> torch.Tensor:
        pass
@torch.jit.script
class Square:
    def __init__(self, k: int):
        self.k = k
    def area(self, x: torch.Tensor) -> torch.Tensor:
        return x * x * self.k
@torch.jit.script
class Circle:
    def __init__(self, k: int):
        self.k = k
    def area(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3.25 * self.k
@torch.jit.script
class Answer:
    def __init__(self, area: torch.Tensor):
        self.area = area
class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)
        self.norm.running_mean = torch.tensor([0.5, -2.0])
        self.norm.running_var = torch.tensor([0.1, 3.0])
    def forward(self, x, choice: List[int]):
        shapes: List[Shape] = [Square(2), Circle(3)]
        return Answer(shapes[choice[0]].area(self.norm(self.linear(x))))
    @torch.jit.export
    def other(self, x, choice: List[int]):
        return Answer(self.forward(x, choice).area + 1)
class Inner(torch.nn.Module):
    def forward(self, x):
        return x + 1
class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x):
        return self.inner(x) * 2
torch.manual_seed(0)
torch.jit.script(Chosen().eval()).save(out + "/chosen.pt")
torch.save((torch.randn(1, 2, 2), [1]), out + "/inputs.pt")
torch.jit.script(Nested()).save(out + "/nested.pt")
torch.save(torch.ones(3), out + "/one.pt")
open(out + "/backend.py", "w").write('''
import sys, torch
model = torch.jit.load(sys.argv[1])
inputs = torch.load(sys.argv[2], weights_only=True)
torch.save((model(*inputs) + len(list(model.children())),), sys.argv[3])
''')
)";

  const TemporaryFolder folder_;
};

TEST_F(NotReduced, IsHandedBackWithARepro) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Finished finished = reduce("chosen", {"--backend", "freeze", verify});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_NE(finished.err.find("NOT REDUCED: it cannot be flattened: "), std::string::npos) << describe(finished);
  const fs::path repro = folder_ / "x.repro";
  EXPECT_EQ(finished.out, (repro / "repro.cpp").string() + "\n");
  EXPECT_EQ(read_text(repro / "reduced.pt"), read_text(folder_ / "chosen.pt")) << "as it was given";
  const json said = report();
  EXPECT_EQ(said["verified"], true);
  EXPECT_EQ(said["one_minimal"], false);
  EXPECT_EQ(said["after"]["operators"], said["before"]["operators"]);
  EXPECT_NE(said["not_reduced"].get<std::string>().find("torch.jit.trace"), std::string::npos) << said["not_reduced"];
  const std::string markdown = read_text(repro / "report.md"), cpp = read_text(repro / "repro.cpp");
  EXPECT_LT(markdown.find("**Not reduced"), 200u) << markdown;
  EXPECT_LT(cpp.find("// NOT REDUCED"), 200u) << cpp;
  const Finished python =
      run_program({test_paths::python, "-c", "import sys, torch; print(torch.load(sys.argv[1], weights_only=False)[1])",
                   repro / "inputs.pt"});
  EXPECT_EQ(python.out, "[1]\n") << describe(python);
}

/// The backend is a Python that imports torch for each check.
TEST_F(NotReduced, IsHandedBackWhereFlatteningHidesTheFailure) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string backend = "command:" + std::string(test_paths::python) + " " + (folder_ / "backend.py").string();
  const Finished finished =
      reduce("nested", {"--backend", backend, "--inputs", folder_ / "one.pt", "--quiet", "--no-verify"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_NE(report()["not_reduced"].get<std::string>().find("no longer once its calls are inlined"), std::string::npos);
}

TEST_F(NotReduced, IsHandedBackOrRefusedWhateverTheCause) {
  const fs::path repro = folder_ / "x.repro";
  // Backends that take flat programs only take nothing else.
  const Finished refused = reduce("chosen", {"--backend", "pass:peephole", "--quiet"});
  EXPECT_EQ(refused.exit_code, 2) << describe(refused);
  EXPECT_NE(refused.err.find("cannot be flattened"), std::string::npos) << describe(refused);
  EXPECT_FALSE(fs::exists(repro));
  // Backends compile forward: where it is another method, that is what calls it.
  const Finished other = reduce("chosen", {"--backend", "freeze", "--method", "other", "--quiet", "--no-verify"});
  ASSERT_EQ(other.exit_code, 0) << describe(other);
  const Finished again = run_tool({"run", repro / "reduced.pt", "--backend", "freeze"});
  EXPECT_EQ(again.exit_code, 1) << describe(again);
}

} // namespace
} // namespace repro_minify::end_to_end
