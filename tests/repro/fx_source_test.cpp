#include "repro/code.h"

#include "program/executor.h"
#include "program/program_from.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(FxSource, IsPython) {
  register_python_calls();
  const Program program = program_from(
      R"IR(
graph(%x : Tensor, %y : Tensor):)IR" +
          call_constant("add", R"({"f":"operator.add","a":[{"%":0},{"%":1}]})") +
          call_constant("half", R"({"m":"half","a":[{"%":0}]})") +
          call_constant("set", R"({"f":"operator.setitem","a":[{"%":0},)"
                               R"({"tuple":[{"slice":[{"%":1},{"none":1},{"none":1}]},{"ellipsis":1}]},{"%":2}]})") +
          call_constant("sum", R"({"f":"torch.sum","a":[{"%":0},[{"%":1}]],"k":{"dtype":{"torch":"float32"}}})") + R"IR(
  %one : int = prim::Constant[value=1]()
  %z : Tensor = fx::tensor(%add, %x, %one)
  %h : Tensor = fx::tensor(%half, %z)
  fx::effect_(%set, %y, %one, %h)
  %s : Tensor = fx::tensor(%sum, %y, %one)
  return (%s, %h))IR",
      {at::ones({2}), at::ones({2})});
  EXPECT_EQ(fx_source(program), "def f(x, y):\n"
                                "    v7 = x + 1\n"
                                "    v8 = v7.half()\n"
                                "    y[1:, ...] = v8\n"
                                "    v9 = torch.sum(y, [1], dtype=torch.float32)\n"
                                "    return v9, v8\n");
}

TEST(FxSource, ItsPiecesAreThoseOfTheCode) {
  register_python_calls();
  const Program program = program_from(R"IR(
graph(%x : Tensor):)IR" + call_constant("half", R"({"m":"half","a":[{"%":0}]})") +
                                           R"IR(
  %h : Tensor = fx::tensor(%half, %x)
  return (%h))IR",
                                       {at::ones({2})});
  const std::vector<CodePiece> pieces = code_pieces(program);
  ASSERT_EQ(pieces.size(), 3U);
  const torch::jit::Value *half = program.graph->outputs()[0];
  EXPECT_EQ(pieces[1].value, "%" + half->debugName());
  EXPECT_NE(pieces[1].text.find(" = x.half()\n"), std::string::npos) << pieces[1].text;
  EXPECT_EQ(pieces[0].text + pieces[1].text + pieces[2].text, fx_source(program));
  EXPECT_EQ(fx_line(half->node()), "x.half()");
}

TEST(FxSource, SaysModesAndGraphs) {
  register_python_calls();
  const Program program = program_from(
      R"IR(
graph(%x : Tensor):)IR" +
          call_constant("run", R"({"f":"F.run","a":[{"graph":{"takes":1,"calls":[{"m":"sin","a":[{"$":0}]}],)"
                               R"("gives":{"$":1}}},{"%":0}],)"
                               R"("in":[{"grad":false},{"autocast":["cpu","bfloat16",true]},{"odd":1}]})") +
          R"IR(
  %z : Tensor = fx::tensor(%run, %x)
  return (%z))IR",
      {at::ones({2})});
  EXPECT_EQ(fx_source(program), "def f(x):\n"
                                "    with torch.no_grad(), torch.autocast(\"cpu\", dtype=torch.bfloat16), ?: "
                                "v2 = F.run(<graph of 1 calls>, x)\n"
                                "    return v2\n");
}

/// Infinity and NaN, which have no literal, a whole number of more than 64 bits, text that is not ASCII.
TEST(FxSource, WritesWhatHasNoLiteral) {
  register_python_calls();
  const std::string call =
      R"J({"f":"F.f","a":[{"%":0},{"float":"inf"},{"float":"-inf"},{"int":"36893488147419103232"},)J"
      R"J({"complex":["1.5","nan"]},{"text":"é"},{"device":"cpu"},{"int":"x)"}]})J";
  const Program program = program_from("graph(%x : Tensor):" + call_constant("call", call) + R"IR(
  %z : Tensor = fx::tensor(%call, %x)
  return (%z))IR",
                                       {at::ones({2})});
  EXPECT_EQ(fx_source(program), "def f(x):\n"
                                "    v2 = F.f(x, float(\"inf\"), float(\"-inf\"), 36893488147419103232, "
                                "complex(1.5, float(\"nan\")), \"é\", torch.device(\"cpu\"), int(\"x)\"))\n"
                                "    return v2\n");
}

/// A hand-made archive may hold any text.
TEST(FxSource, OfACallThatIsNone) {
  register_python_calls();
  const Program program = program_from(R"IR(
graph(%x : Tensor):)IR" + call_constant("call", R"({"f":"torch.add","a":[{"odd":[]},{}]})") +
                                           R"IR(
  %z : Tensor = fx::tensor(%call, %x)
  return (%z))IR",
                                       {at::ones({2})});
  EXPECT_EQ(fx_source(program), "def f(x):\n    v2 = torch.add(?, ?)\n    return v2\n");
}

} // namespace
} // namespace repro_minify
