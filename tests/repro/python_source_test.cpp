// TorchScript to Python as its users write it.
#include "repro/script_text.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

std::string usual(const std::string &script) {
  return as_function(python_source(script, PythonCalls::AsUsual), "program");
}

TEST(PythonSource, OperatorsAreCalledAsPythonHasThem) {
  EXPECT_EQ(usual("def forward(self,\n    x: Tensor,\n    w: Tensor) -> Tensor:\n  _0 = torch.add_(x, w)\n"
                  "  return torch.linear(torch.relu(x), w, None)\n"),
            "def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:\n    x.add_(w)\n"
            "    return torch.nn.functional.linear(torch.relu(x), w, None)\n");
}

TEST(PythonSource, WhatPythonDoesNotHaveIsCalledAsTheOperator) {
  const std::string text = usual("def forward(self,\n    x: Tensor) -> Tensor:\n  return torch.slice(x, 0)\n");
  EXPECT_NE(text.find("torch.ops.aten.slice(x, 0)"), std::string::npos) << text;
  const std::string aten =
      python_source("def forward(self,\n    x: Tensor) -> Tensor:\n  return torch.relu(x)\n", PythonCalls::AsAten).text;
  EXPECT_NE(aten.find("torch.ops.aten.relu(x)"), std::string::npos) << aten;
}

TEST(PythonSource, TextAndNumbersStayWhatTheyAre) {
  const std::string text = usual("def forward(self,\n    x: Tensor) -> Tensor:\n  y = torch.mul(x, 1.)\n  return "
                                 "torch.f(y, \"torch.relu(1.)\")\n");
  EXPECT_NE(text.find("torch.mul(x, 1.0)"), std::string::npos) << text;
  EXPECT_NE(text.find("\"torch.relu(1.)\""), std::string::npos) << text;
}

TEST(PythonSource, NumbersThatPythonHasNamesForAreNames) {
  const std::string text = usual("def forward(self,\n    x: Tensor) -> Tensor:\n"
                                 "  y = torch.zeros([5], dtype=15, layout=0, device=torch.device(\"cpu\"))\n"
                                 "  z = torch.clone(torch.to(x, 5), memory_format=2)\n"
                                 "  return torch.add(torch.sum(y, [5], False, dtype=7), z, alpha=5)\n");
  EXPECT_NE(text.find("torch.zeros([5], dtype=torch.bfloat16, layout=torch.strided, device=torch.device(\"cpu\"))"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("torch.clone(x.to(torch.float16), memory_format=torch.channels_last)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("torch.sum(y, [5], False, dtype=torch.float64), z, alpha=5)"), std::string::npos) << text;
}

TEST(PythonSource, AnElementOfAListNeedsNoBrackets) {
  const std::string text = usual("def forward(self,\n    l: List[Tensor]) -> Tensor:\n  return torch.add_(l[0], 1)\n");
  EXPECT_NE(text.find("return l[0].add_(1)\n"), std::string::npos) << text;
}

TEST(PythonSource, OneOfTheNamesOfALineMayBeRead) {
  const std::string text = usual("def forward(self,\n    x: Tensor) -> Tensor:\n  xs = torch.split(x, 2)\n"
                                 "  _a, _b, = xs\n  _c = torch.relu_(x)\n  return torch.add(_a, torch.cat(xs))\n");
  EXPECT_NE(text.find("    _a, _b, = xs\n    torch.relu_(x)\n"), std::string::npos) << text;
}

TEST(PythonSource, AttributesNeedAModule) {
  EXPECT_FALSE(python_source("def forward(self) -> Tensor:\n  return self.w\n", PythonCalls::AsUsual).one_function);
}

} // namespace
} // namespace repro_minify
