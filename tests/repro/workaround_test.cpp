// A workaround in the place of a script where its user would write it.
#include "repro/small_program.h"
#include "repro/workaround.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using Kind = Workaround::Kind;

const std::string script = "import torch\n\n\ndef f(x):\n    return torch.sinh(x)\n\n\nx = torch.ones(2)\n"
                           "expected = f(x)\nfound = torch.compile(f)(x)\n"
                           "torch.testing.assert_close(found, expected)\n";

TEST(Workaround, StandsBeforeTheFirstCall) {
  EXPECT_EQ(with_workaround(script, {Kind::Setting, "torch._inductor.config.cpp.simdlen = 1"}),
            "import torch\n\n\ndef f(x):\n    return torch.sinh(x)\n\n\nimport torch._inductor.config\n"
            "torch._inductor.config.cpp.simdlen = 1\nx = torch.ones(2)\nexpected = f(x)\n"
            "found = torch.compile(f)(x)\ntorch.testing.assert_close(found, expected)\n");
}

TEST(Workaround, ImportsTheModuleThatItNames) {
  const std::string code = "torch._inductor.lowering.make_fallback(torch.ops.aten.sinh.default, override_decomp=True)";
  const std::string text = with_workaround(script, {Kind::Fallback, code});
  EXPECT_NE(
      text.find("import torch._inductor.lowering\n" + code + "\ntorch._inductor.config.fx_graph_cache = False\nx = "),
      std::string::npos)
      << text;
}

TEST(Workaround, FallsBackForTheOverloadThatTheBisectorNames) {
  EXPECT_EQ(fallback_for("sinh"),
            "torch._inductor.lowering.make_fallback(torch.ops.aten.sinh.default, override_decomp=True)");
  EXPECT_EQ(fallback_for("aten.div.Tensor_mode"),
            "torch._inductor.lowering.make_fallback(torch.ops.aten.div.Tensor_mode, override_decomp=True)");
  EXPECT_EQ(fallback_for("aten.add.Tensor"), "") << "no model would be fused any more";
  EXPECT_EQ(fallback_for(""), "");
  EXPECT_EQ(fallback_for("div); exit("), "") << "ends in a script";
}

TEST(Workaround, OfAnArgumentChangesTheCall) {
  const std::string text = with_workaround(script, {Kind::Argument, "torch.compile(model, dynamic=True)"});
  EXPECT_NE(text.find("found = torch.compile(dynamic=True)(f)(x)\n"), std::string::npos) << text;
}

TEST(Workaround, LeavesAFunctionOrAModuleToEager) {
  const std::string function = with_workaround(script, {Kind::Eager, "torch.compiler.disable"});
  EXPECT_NE(function.find("body = torch.compiler.disable(f)\n\n\ndef f(*inputs):\n    return body(*inputs)\n"),
            std::string::npos)
      << function;
  const std::string module = with_workaround("import torch\n\n\nclass Repro(torch.nn.Module):\n    pass\n\n\n"
                                             "model = Repro()\n",
                                             {Kind::Eager, "torch.compiler.disable"});
  EXPECT_NE(module.find("\nRepro.forward = torch.compiler.disable(Repro.forward)\nmodel = Repro()\n"),
            std::string::npos)
      << module;
}

TEST(Workaround, IsSaidWithWhatItCosts) {
  ReproFacts facts = testing_support::facts_of(FailureKind::Accuracy, false, false);
  EXPECT_EQ(workaround_sentence(facts), "");
  facts.workaround = Workaround{Kind::Setting, "torch._inductor.config.pattern_matcher = False", true, 1.25};
  EXPECT_EQ(workaround_sentence(facts),
            "`torch._inductor.config.pattern_matcher = False` makes this program right, and the original model too. "
            "A call of the model then takes 1.25 times as long.");
  facts.workaround = Workaround{Kind::Setting, "torch._inductor.config.pattern_matcher = False", false, std::nullopt};
  EXPECT_NE(workaround_sentence(facts).find("still fails"), std::string::npos);
  facts.workaround = Workaround{Kind::Eager, "torch.compiler.disable", std::nullopt, std::nullopt};
  EXPECT_NE(workaround_sentence(facts).find("leaves them to eager"), std::string::npos);
}

} // namespace
} // namespace repro_minify
