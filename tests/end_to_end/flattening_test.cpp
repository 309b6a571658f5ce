// Scripted models that are more than a graph of operators.
#include "all_tests.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

class Flattening : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(test_paths::python).empty())
      GTEST_SKIP() << "no Python with torch here";
  }
  /// Runs Python, which saves models in `folder_`, its first argument.
  void make(const std::string &python) const {
    const fs::path script = folder_ / "make.py";
    std::ofstream(script) << python;
    ASSERT_EQ(run_program({test_paths::python, script, folder_.path()}).exit_code, 0);
  }

  const TemporaryFolder folder_;
};

/// Objects, caches, interfaces: what a model made of them is left, and no trace of them.
TEST_F(Flattening, ReducesWhatIsNoPlainGraph) {
  make(R"(
import sys, torch
from typing import Optional
class Box:
    def __init__(self, x: torch.Tensor, k: int):
        self.x = x
        self.k = k
    def shifted(self) -> torch.Tensor:
        self.k = self.k + 1
        return self.x + self.k
class Boxed(torch.nn.Module):
    def forward(self, x):
        box = Box(x, 2)
        y = box.shifted() * box.shifted()
        for i in range(2):
            y = Box(y, i).shifted()
        return (y + box.k).relu()
class Cached(torch.nn.Module):
    cache: Optional[torch.Tensor]
    def __init__(self):
        super().__init__()
        self.cache = None
        self.linear = torch.nn.Linear(2, 2)
    def forward(self, x):
        if self.cache is None:
            self.cache = self.linear(x)
        cache = self.cache
        assert cache is not None
        return (cache + x).relu()
@torch.jit.interface
class Operator(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass
class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2
class Declared(torch.nn.Module):
    operator: Operator
    def __init__(self):
        super().__init__()
        self.operator = Doubled()
    def forward(self, x):
        return self.operator.forward(x).relu()
for model in Boxed(), Cached(), Declared():
    torch.jit.script(model.eval()).save(f"{sys.argv[1]}/{type(model).__name__}.pt")
torch.save((torch.tensor([0.3, 1.3]),), sys.argv[1] + "/inputs.pt")
)");
  for (const std::string model : {"Boxed", "Cached", "Declared"}) {
    const Finished reduced = run_tool({folder_ / (model + ".pt"), "--backend", "inductor-like", "--inject",
                                       "relu-accuracy", "--quiet", "--no-verify", "--no-bisect"});
    ASSERT_EQ(reduced.exit_code, 0) << model << describe(reduced);
    const auto report = nlohmann::json::parse(read_text(folder_ / (model + ".repro") / "report.json"));
    EXPECT_EQ(report.at("after").at("operators"), 1) << model; // the relu
  }
}

/// A list of objects is known only while the model runs: what is left is what torch.jit.trace would have kept.
TEST_F(Flattening, FollowsTheRunWhereNothingElseIsLeft) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  make(R"(
import sys, torch
class Box:
    def __init__(self, x: torch.Tensor):
        self.x = x
class Boxed(torch.nn.Module):
    def forward(self, x):
        boxes = [Box(x), Box(x + 1)]
        return torch.round(boxes[0].x * 3).relu()
model, x = Boxed().eval(), torch.tensor([0.3, 1.3])
torch.jit.script(model).save(sys.argv[1] + "/scripted.pt")
torch.jit.trace(model, x).save(sys.argv[1] + "/traced.pt")
torch.save((x,), sys.argv[1] + "/inputs.pt")
)");
  const std::string backend = R"(command:sh -c 'cp "$2" "$3"' sh)"; // gives its inputs back
  for (const std::string model : {"scripted", "traced"}) {
    const Finished reduced = run_tool({folder_ / (model + ".pt"), "--backend", backend, "--quiet", "--no-verify"});
    EXPECT_EQ(reduced.exit_code, 0) << describe(reduced);
    const auto report = nlohmann::json::parse(read_text(folder_ / (model + ".repro") / "report.json"));
    EXPECT_EQ(report.at("after").at("operators"), 1) << model;
  }
}

} // namespace
} // namespace repro_minify::end_to_end
