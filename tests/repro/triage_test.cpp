// Tests of triage's answers: each reason with a program that trips it, and one that does not.
#include "program/executor.h"
#include "program/program_from.h"
#include "repro/small_program.h"
#include "repro/triage.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using testing_support::call_constant;
using testing_support::facts_of;
using testing_support::program_from;
using testing_support::small_program;

Program program_with(const std::string &operator_name, size_t output) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  InputBuilder builder(program);
  torch::jit::Value *x = builder.add_tensor(at::ones({2}), Role::Input, "x", Formula{.kind = Formula::Kind::Ones});
  torch::jit::Node *node = program.graph->create(c10::Symbol::fromQualString(operator_name), {x}, output + 1);
  program.graph->insertNode(node);
  program.graph->registerOutput(node->output(output));
  return program;
}

bool says(const std::vector<std::string> &reasons, const std::string &words) {
  for (const auto &reason : reasons)
    if (reason.find(words) != std::string::npos)
      return true;
  return false;
}

LeafReport wrong_leaf_of(double expected, double found) {
  LeafReport leaf;
  leaf.same = false;
  leaf.ref_form = leaf.res_form = TensorForm{at::kFloat, {1}, {1}};
  leaf.ref_at_worst = expected;
  leaf.res_at_worst = found;
  return leaf;
}

/// TorchInductor fails too: a failure of TorchScript alone is not worked on.
const ReproFacts &plain() {
  static const ReproFacts facts = [] {
    ReproFacts made = facts_of(FailureKind::Accuracy, false, false);
    made.ablation = {{ablation_names::inductor, "fails in the same way", true}};
    return made;
  }();
  return facts;
}

TEST(Preflight, APlainWrongResultIsFine) {
  EXPECT_TRUE(preflight(small_program(), plain()).empty());
}

TEST(Preflight, OfTorchScriptAlone) {
  ReproFacts facts = plain();
  for (const auto &rows : {std::vector<AblationRow>{}, {{ablation_names::inductor, "passes", false}}}) {
    facts.ablation = rows;
    EXPECT_TRUE(says(preflight(small_program(), facts), "maintenance mode"));
  }
}

TEST(Preflight, OfABackendThatIsNotPyTorchs) {
  ReproFacts facts = facts_of(FailureKind::Accuracy, false, false, "command:some-compiler");
  EXPECT_TRUE(says(preflight(small_program(), facts), "no part of PyTorch"));
  EXPECT_TRUE(proposed_labels(facts).empty());
  facts.ablation = {{ablation_names::inductor, "fails in the same way", true}};
  EXPECT_FALSE(says(preflight(small_program(), facts), "no part of PyTorch"));
}

TEST(Preflight, AnotherTolerance) {
  ReproFacts facts = plain();
  facts.check.compare.tol /= 100;
  EXPECT_TRUE(says(preflight(small_program(), facts), "tolerance"));
}

TEST(Preflight, AnIndexOfEqualElements) {
  EXPECT_FALSE(says(preflight(program_with("aten::argmax", 0), plain()), "index"));
  ReproFacts facts = plain();
  facts.signature.at_equal_elements = true;
  const auto asked = [&](const char *name, size_t output) { return preflight(program_with(name, output), facts); };
  EXPECT_TRUE(says(asked("aten::argmax", 0), "index"));
  EXPECT_TRUE(says(asked("aten::sort", 1), "index"));
  EXPECT_TRUE(says(asked("aten::adaptive_max_pool2d", 1), "index"));
  EXPECT_FALSE(says(asked("aten::adaptive_max_pool2d", 0), "index"));
  EXPECT_FALSE(says(asked("aten::sort", 0), "index"));
}

TEST(Preflight, RandomNumbersAreDrawnOtherwiseAndHaveTheirDtype) {
  ReproFacts facts = plain();
  Program program = program_with("aten::relu", 0);
  program.graph->registerOutput(program.graph->insert(c10::aten::rand_like, {program.graph->inputs()[0]}));
  EXPECT_TRUE(says(preflight(program, facts), "draws random numbers"));
  facts.signature.kind = FailureKind::Dtype;
  EXPECT_FALSE(says(preflight(program, facts), "draws random numbers"));
}

/// Calls of torch.fx, which have no schema.
TEST(Preflight, KnowsCallsOfPython) {
  register_python_calls();
  ReproFacts facts = plain();
  facts.signature.at_equal_elements = true;
  const auto asked = [&](const char *call, const char *part) {
    const Program program = program_from(R"IR(
graph(%x : Tensor):)IR" + call_constant("call", call) +
                                             call_constant("part", part) + R"IR(
  %pair : Tensor = fx::tensor(%call, %x)
  %one : Tensor = fx::tensor(%part, %pair)
  return (%one))IR",
                                         {at::ones({2})});
    return preflight(program, facts);
  };
  const char *sort = R"({"m":"sort","a":[{"%":0}]})";
  EXPECT_TRUE(says(asked(sort, R"({"f":"operator.getitem","a":[{"%":0},1]})"), "index"));
  EXPECT_FALSE(says(asked(sort, R"({"f":"operator.getitem","a":[{"%":0},0]})"), "index"));
  EXPECT_TRUE(says(asked(R"({"m":"sin","a":[{"%":0}]})", R"({"f":"torch.argmax","a":[{"%":0}]})"), "index"));
  EXPECT_TRUE(
      says(asked(R"({"f":"torch.rand_like","a":[{"%":0}]})", R"({"m":"sin","a":[{"%":0}]})"), "draws random numbers"));
}

TEST(Preflight, ValuesNearTheEndOfTheDtype) {
  ReproFacts facts = plain();
  facts.reduced.outputs = {wrong_leaf_of(2e38, 1)};
  EXPECT_TRUE(says(preflight(small_program(), facts), "near the end"));
  facts.reduced.outputs = {wrong_leaf_of(2, 1)};
  EXPECT_FALSE(says(preflight(small_program(), facts), "near the end"));
}

TEST(Preflight, RoundingInTheModeThatPromisesEagersNumbersIsNotByDesign) {
  ReproFacts facts = plain();
  LeafReport leaf = wrong_leaf_of(1, 1 + 1e-7);
  leaf.kinds = {FailureKind::Accuracy};
  leaf.max_abs_error = 1e-7;
  facts.reduced.outputs = {leaf};
  EXPECT_TRUE(says(preflight(small_program(), facts), "it is rounding"));
  facts.ablation.push_back({ablation_names::strict, "fails in the same way", true});
  EXPECT_FALSE(says(preflight(small_program(), facts), "it is rounding"));
  facts.ablation.back().fails = std::nullopt;
  EXPECT_TRUE(says(preflight(small_program(), facts), "it is rounding")) << "an older PyTorch has no such mode";
}

TEST(Preflight, GoneWithPrecisionEmulation) {
  ReproFacts facts = plain();
  facts.ablation = {{ablation_names::emulated, "passes", false}};
  EXPECT_TRUE(says(preflight(small_program(), facts), "emulate_precision_casts"));
  facts.ablation.front().fails = std::nullopt;
  EXPECT_FALSE(says(preflight(small_program(), facts), "emulate_precision_casts")) << "nobody knows";
  facts.ablation.front().fails = true;
  EXPECT_FALSE(says(preflight(small_program(), facts), "emulate_precision_casts"));
}

TEST(Preflight, NearerToFloat64) {
  ReproFacts facts = plain();
  facts.reduced.outputs = {wrong_leaf_of(2, 1)};
  facts.reduced.outputs.front().nearer_to_fp64 = true;
  EXPECT_TRUE(says(preflight(small_program(), facts), "nearer to float64"));
}

bool has_label(const ReproFacts &facts, const std::string &label) {
  for (const auto &proposed : proposed_labels(facts))
    if (proposed.label == label)
      return true;
  return false;
}

TEST(Labels, FollowTheAblation) {
  ReproFacts facts = plain();
  facts.ablation.clear();
  EXPECT_TRUE(has_label(facts, "oncall: jit"));
  facts.ablation = {{ablation_names::inductor, "not known: no answer", std::nullopt}};
  EXPECT_TRUE(has_label(facts, "oncall: jit")) << "what is not known is no failure";
  facts = plain();
  EXPECT_TRUE(has_label(facts, "module: inductor"));
  EXPECT_FALSE(has_label(facts, "oncall: jit"));
}

TEST(Labels, NameTheFirstRungOfTheLadderThatFails) {
  ReproFacts facts = plain();
  facts.ablation.push_back({ablation_names::aot_eager, "passes", false});
  EXPECT_TRUE(has_label(facts, "module: inductor"));
  facts.ablation.push_back({ablation_names::partitioned, "fails in the same way", true});
  EXPECT_TRUE(has_label(facts, "module: decompositions"));
  EXPECT_FALSE(has_label(facts, "module: inductor"));
  facts.ablation.pop_back();
  facts.ablation.back() = {ablation_names::aot_eager, "fails otherwise: exception", std::nullopt};
  EXPECT_FALSE(has_label(facts, "module: aotdispatch")) << "that is another failure";
  facts.ablation.back().fails = true;
  EXPECT_TRUE(has_label(facts, "module: aotdispatch"));
  EXPECT_FALSE(has_label(facts, "module: inductor"));
  facts.ablation.push_back({ablation_names::dynamo, "fails in the same way", true});
  EXPECT_TRUE(has_label(facts, "module: dynamo"));
  EXPECT_FALSE(has_label(facts, "module: aotdispatch"));
}

TEST(Labels, NameThePartOfAotAutograd) {
  ReproFacts facts = plain();
  facts.ablation.push_back({ablation_names::scalar, "passes", false});
  EXPECT_TRUE(has_label(facts, "oncall: cpu inductor"));
  facts.ablation.push_back({ablation_names::aot_eager, "fails in the same way", true});
  facts.ablation.push_back({ablation_names::decomposed, "fails in the same way", true});
  EXPECT_TRUE(has_label(facts, "module: decompositions"));
  EXPECT_FALSE(has_label(facts, "module: aotdispatch"));
  EXPECT_FALSE(has_label(facts, "oncall: cpu inductor"));
  facts.ablation.push_back({ablation_names::functionalized, "fails in the same way", true});
  EXPECT_TRUE(has_label(facts, "module: functionalization"));
  facts = plain();
  facts.bisection.emplace().guilty = "aot_eager_decomp_partition/decomposition#2";
  facts.bisection->kind = StepKind::Decomposition;
  EXPECT_TRUE(has_label(facts, "module: decompositions"));
}

/// Passes and lowerings are the same for every device. C++ has an overflow that PyTorch does not have.
TEST(Labels, OfTheCpuIsWhatItsCodeAloneGetsWrong) {
  ReproFacts facts = plain();
  EXPECT_TRUE(has_label(facts, "module: correctness (silent)"));
  EXPECT_FALSE(has_label(facts, "oncall: cpu inductor")) << "nothing says that it is right elsewhere";
  facts.ablation.push_back({ablation_names::scalar, "passes", false});
  EXPECT_TRUE(has_label(facts, "oncall: cpu inductor"));
  facts.bisection.emplace().guilty = "inductor/post_grad_passes#7";
  facts.bisection->kind = StepKind::Lowering;
  EXPECT_TRUE(has_label(facts, "oncall: cpu inductor"));
  facts.bisection->kind = StepKind::Pass;
  EXPECT_FALSE(has_label(facts, "oncall: cpu inductor"));
  facts = plain();
  facts.explanation = {"unwrapped", "a + 1", "torch.int32"};
  EXPECT_TRUE(has_label(facts, "oncall: cpu inductor"));
}

} // namespace
} // namespace repro_minify
