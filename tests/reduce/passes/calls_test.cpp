#include "program/executor.h"
#include "program/python_call.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace repro_minify {
namespace {

using namespace testing_support;
using nlohmann::json;

Program program_of(const std::string &body, size_t inputs) {
  register_python_calls();
  return program_from(body, std::vector<at::Tensor>(inputs, at::ones({2})));
}

json only_call(const Program &program) {
  for (const auto *node : program.graph->nodes())
    if (is_python_call(node))
      return python_call_of(node);
  return {};
}

bool calls(const Program &program, const std::string &part) {
  return only_call(program).dump().find(part) != std::string::npos;
}

TEST(Calls, LoseKeywordsAndLastArguments) {
  const Program start = program_of(
      R"IR(
graph(%x : Tensor):)IR" +
          call_constant("call", R"({"f":"F.pool","a":[{"%":0},{"%":1},{"%":1}],"k":{"ceil":{"%":2}}})") + R"IR(
  %two : int = prim::Constant[value=2]()
  %yes : bool = prim::Constant[value=1]()
  %z : Tensor = fx::tensor(%call, %x, %two, %yes)
  return (%z))IR",
      1);
  const auto any = run_pass("calls", start, [](const Program &program) { return calls(program, "F.pool"); });
  EXPECT_EQ(only_call(any.reduction.program), json::parse(R"({"f":"F.pool","a":[{"%":0}]})"));
  const auto with_ceil = run_pass("calls", start, [](const Program &program) { return calls(program, "ceil"); });
  EXPECT_EQ(only_call(with_ceil.reduction.program),
            json::parse(R"({"f":"F.pool","a":[{"%":0}],"k":{"ceil":{"%":1}}})"));
}

/// An operator's arguments in the middle cannot be left out, but have defaults: ignore_index is -100 again.
TEST(Calls, OfOperatorsHaveTheirDefaults) {
  const Program start = program_of(
      R"IR(
graph(%x : Tensor, %y : Tensor, %w : Tensor):)IR" +
          call_constant("call", R"({"f":"torch.ops.aten.cross_entropy_loss.default",)"
                                R"("a":[{"%":0},{"%":1},{"%":2},{"%":3},{"%":4},{"%":5}]})") +
          R"IR(
  %one : int = prim::Constant[value=1]()
  %smoothing : float = prim::Constant[value=0.5]()
  %z : Tensor = fx::tensor(%call, %x, %y, %w, %one, %one, %smoothing)
  return (%z))IR",
      3);
  const auto result =
      run_pass("calls", start, [](const Program &program) { return only_call(program).at("a").size() == 6; });
  EXPECT_EQ(only_call(result.reduction.program).at("a"),
            json::parse(R"([{"%":0},{"%":1},{"none":1},{"%":2},{"int":"-100"},{"%":3}])"))
      << "reduction is 1, its default";
}

/// Lists of one length are shortened at the same place, as their elements belong together.
TEST(Calls, ShortenListsThatBelongTogether) {
  const Program start = program_of(
      R"IR(
graph(%a : Tensor, %b : Tensor, %c : Tensor, %d : Tensor):)IR" +
          call_constant("call", R"({"f":"torch._foreach_mul_","a":[[{"%":0},{"%":1}],[{"%":2},{"%":3}]]})") + R"IR(
  %z : Tensor[] = fx::tensors_(%call, %a, %b, %c, %d)
  return (%a))IR",
      4);
  const auto pairs = [](const Program &program) {
    const json lists = only_call(program).at("a");
    return lists.size() == 2 && lists[0].size() == lists[1].size() && !lists[0].empty();
  };
  const auto result = run_pass("calls", start, pairs);
  EXPECT_EQ(only_call(result.reduction.program).at("a"), json::parse(R"([[{"%":0}],[{"%":1}]])"));
}

TEST(Calls, LoseBoundsOfSlices) {
  const Program start = program_of(
      R"IR(
graph(%x : Tensor):)IR" +
          call_constant("call", R"({"f":"operator.getitem","a":[{"%":0},)"
                                R"({"tuple":[{"slice":[{"%":1},{"%":2},{"none":1}]},{"ellipsis":1}]}]})") +
          R"IR(
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %z : Tensor = fx::tensor(%call, %x, %one, %two)
  return (%z))IR",
      1);
  const auto result = run_pass("calls", start, [](const Program &program) {
    const json call = only_call(program);
    return call.at("a").size() == 2 && calls(program, "slice");
  });
  EXPECT_EQ(only_call(result.reduction.program).at("a").at(1),
            json::parse(R"({"slice":[{"none":1},{"none":1},{"none":1}]})"));
}

/// A mode goes from all calls at once; none is ever entered and not left, as each call says its own.
TEST(Calls, LoseModes) {
  const std::string cast = R"({"autocast":["cpu","bfloat16",true]})";
  const Program start = program_of(
      R"IR(
graph(%x : Tensor):)IR" +
          call_constant("one", R"({"f":"F.one","a":[{"%":0}],"in":[{"grad":false},)" + cast + "]}") +
          call_constant("two", R"({"f":"F.two","a":[{"%":0}],"in":[)" + cast + "]}") + R"IR(
  %y : Tensor = fx::tensor(%one, %x)
  %z : Tensor = fx::tensor(%two, %y)
  return (%z))IR",
      1);
  const auto result = run_pass("calls", start, [](const Program &program) { return calls(program, "grad"); });
  EXPECT_EQ(only_call(result.reduction.program), json::parse(R"({"f":"F.one","a":[{"%":0}],"in":[{"grad":false}]})"));
  const auto nodes = all_nodes(*result.reduction.program.graph);
  for (const auto *node : nodes)
    if (is_python_call(node) && operator_name(node) == "F.two") {
      EXPECT_FALSE(python_call_of(node).contains("in"));
    }
}

TEST(Calls, GoOutOfGraphsThatStay) {
  const Program start = program_of(
      R"IR(
graph(%p : Tensor, %x : Tensor):)IR" +
          call_constant("call", R"({"f":"F.run","a":[{"graph":{"takes":1,"calls":[{"m":"sin","a":[{"$":0}]},)"
                                R"({"m":"cos","a":[{"$":1}]}],"gives":{"tuple":[{"$":2}]}}},{"%":0}]})") +
          R"IR(
  %z : Tensor[] = fx::tensors(%call, %x)
  return (%p))IR",
      2);
  const auto result = run_pass("calls", start, [](const Program &program) {
    const json call = only_call(program);
    return call.at("a").size() == 2 && calls(program, "cos");
  });
  EXPECT_EQ(only_call(result.reduction.program).at("a").at(0).at("graph"),
            json::parse(R"({"takes":1,"calls":[{"m":"cos","a":[{"$":0}]}],"gives":{"tuple":[{"$":1}]}})"));
}

TEST(Calls, GoOutOfGraphsInGraphsThatStay) {
  const Program start = program_of(
      R"IR(
graph(%p : Tensor, %x : Tensor):)IR" +
          call_constant("call", R"({"f":"F.run","a":[{"graph":{"takes":1,"calls":[{"f":"F.inner","a":[)"
                                R"({"graph":{"takes":2,"calls":[{"f":"F.add","a":[{"$":0},{"$":1}]},)"
                                R"({"m":"cos","a":[{"$":2}]}],"gives":{"$":3}}},{"$":0}]}],)"
                                R"("gives":{"tuple":[{"$":1}]}}},{"%":0}]})") +
          R"IR(
  %z : Tensor[] = fx::tensors(%call, %x)
  return (%p))IR",
      2);
  const auto inner = [](const Program &program) {
    return only_call(program).at("a").at(0).at("graph").at("calls").at(0).at("a").at(0).at("graph");
  };
  const auto result = run_pass("calls", start, [&](const Program &program) {
    try {
      return inner(program).dump().find("cos") != std::string::npos;
    } catch (const json::exception &) {
      return false;
    }
  });
  EXPECT_EQ(inner(result.reduction.program),
            json::parse(R"({"takes":2,"calls":[{"m":"cos","a":[{"$":0}]}],"gives":{"$":2}})"));
}

} // namespace
} // namespace repro_minify
