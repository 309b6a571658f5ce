// A runtime is called by statements of its user's, not by an expression.
#include "program/program_from.h"
#include "repro/script_text.h"
#include "repro/small_program.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

std::string script_of(FailureKind kind) {
  const Program program = testing_support::small_program();
  ReproFacts facts = testing_support::facts_of(kind, /*grad=*/false, /*autocast=*/false);
  facts.check.calls = 1;
  PythonProgram text;
  text.imports = {"import torch"};
  text.definition = "class Repro(torch.nn.Module):\n    def forward(self, x):\n        return x.neg()\n";
  text.callable = "Repro().eval()";
  text.inputs = {{"x", "torch.ones(2)"}};
  text.is_module = true;
  PythonCall call;
  call.settings = {"import runtime"};
  call.statements = {"session = runtime.load(model)", "found = session.run(inputs)"};
  return script_text({program, text, facts, call, {PythonCalls::AsUsual, false, false}});
}

TEST(ScriptText, HasTheStatementsOfARuntimeWhereTheyAreRead) {
  const std::string text = script_of(FailureKind::Accuracy);
  EXPECT_NE(text.find("import runtime\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nx = torch.ones(2)\nmodel, inputs = Repro().eval(), (x,)\nexpected = model(*inputs)\n"
                      "session = runtime.load(model)\nfound = session.run(inputs)\nfound = found[0]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\ntorch.testing.assert_close(found, expected"), std::string::npos) << text;
}

/// The last statement is the one that fails (repro/script_run.h).
TEST(ScriptText, CallsARuntimeThatRaisesLast) {
  const std::string text = script_of(FailureKind::Exception);
  EXPECT_NE(text.find("\ndef compiled(model):\n    def call(*inputs):\n        session = runtime.load(model)\n"
                      "        found = session.run(inputs)\n        return found[0]\n\n    return call\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\nprint(\"eager:\", model(x))\ncompiled(model)(x)\n")) << text;
}

/// A tensor that is made in one call is made where the test runs; any other goes there.
TEST(TestText, MakesItsInputsOnItsDevice) {
  const Program program = testing_support::small_program();
  ReproFacts facts = testing_support::facts_of(FailureKind::Accuracy, /*grad=*/false, /*autocast=*/false);
  facts.check.calls = 1;
  for (const auto &[made, there] : {std::pair{"torch.ones(2, 3)", "torch.ones(2, 3, device=device)"},
                                    {"torch.tensor([(1)])", "torch.tensor([(1)], device=device)"},
                                    {"torch.ones(2).cos(1)", "torch.ones(2).cos(1).to(device)"},
                                    {"torch.rand(2)", "torch.rand(2).to(device)"}}) {
    PythonProgram text;
    text.imports = {"import torch"};
    text.definition = "def f(x):\n    return x.neg()\n";
    text.callable = "f";
    text.inputs = {{"x", made}};
    const std::string test = test_text({program, text, facts, PythonCall{}, {PythonCalls::AsUsual, false, false}});
    EXPECT_NE(test.find(there), std::string::npos) << test;
  }
}

TEST(ScriptText, SaysWhyACallIsAMethod) {
  Program program = testing_support::program_from("graph(%0 : Tensor):\n  %k : int = prim::Constant[value=1]()\n"
                                                  "  %v : Tensor = aten::type_as(%0, %0)\n"
                                                  "  %y : Tensor = aten::add_(%v, %k, %k)\n  return (%0)\n",
                                                  {at::ones({2})});
  program.provenance.hidden_aliases.insert(c10::Symbol::fromQualString("aten::type_as"));
  const ReproFacts facts = testing_support::facts_of(FailureKind::Accuracy, /*grad=*/false, /*autocast=*/false);
  const std::string text = torchscript_program(program, facts, PythonCalls::AsUsual, /*needs_module=*/true).definition;
  EXPECT_NE(text.find("    # apart from forward, where TorchScript would drop what is written to the result\n"
                      "    def call_type_as(self"),
            std::string::npos)
      << text;
}

} // namespace
} // namespace repro_minify
