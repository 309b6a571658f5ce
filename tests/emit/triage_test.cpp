// What triage would say: each reason with a program that trips it, and one that does not.
#include "emit/ablation_names.h"
#include "emit/small_program.h"
#include "emit/triage.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using testing_support::facts_of;
using testing_support::small_program;

Program program_with(const std::string &operator_name, size_t output) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  InputBuilder builder(program);
  torch::jit::Value *x = builder.add_tensor(at::ones({2}), Role::Input, "x", "ones");
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

const ReproFacts &plain() {
  static const ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  return facts;
}

TEST(Preflight, APlainWrongResultIsFine) {
  EXPECT_TRUE(preflight(small_program(), plain()).empty());
}

TEST(Preflight, AnotherTolerance) {
  ReproFacts facts = plain();
  facts.check.compare.tol /= 100;
  EXPECT_TRUE(says(preflight(small_program(), facts), "tolerance"));
}

TEST(Preflight, AnIndex) {
  EXPECT_TRUE(says(preflight(program_with("aten::argmax", 0), plain()), "index"));
  EXPECT_TRUE(says(preflight(program_with("aten::sort", 1), plain()), "index"));
  EXPECT_FALSE(says(preflight(program_with("aten::sort", 0), plain()), "index"));
}

TEST(Preflight, ValuesNearTheEndOfTheDtype) {
  ReproFacts facts = plain();
  facts.reduced.outputs = {wrong_leaf_of(2e38, 1)};
  EXPECT_TRUE(says(preflight(small_program(), facts), "near the end"));
  facts.reduced.outputs = {wrong_leaf_of(2, 1)};
  EXPECT_FALSE(says(preflight(small_program(), facts), "near the end"));
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

TEST(Labels, FollowTheAblation) {
  const auto has = [](const ReproFacts &facts, const std::string &label) {
    for (const auto &proposed : proposed_labels(facts))
      if (proposed.label == label)
        return true;
    return false;
  };
  ReproFacts facts = plain();
  EXPECT_TRUE(has(facts, "oncall: jit"));
  facts.ablation = {{ablation_names::inductor, "not known: no answer", std::nullopt}};
  EXPECT_TRUE(has(facts, "oncall: jit")) << "what is not known is no failure";
  facts.ablation = {{ablation_names::inductor, "fails", true}};
  EXPECT_TRUE(has(facts, "module: inductor"));
  EXPECT_FALSE(has(facts, "oncall: jit"));
  facts.ablation.push_back({ablation_names::aot_eager, "fails", true});
  EXPECT_TRUE(has(facts, "module: pt2-dispatcher"));
  EXPECT_FALSE(has(facts, "module: inductor"));
}

TEST(Mermaid, IsDrawnUpToFortyNodes) {
  EXPECT_TRUE(mermaid_graph(small_program(), plain()).starts_with("flowchart TD\n"));
  Program large = small_program();
  torch::jit::Value *last = large.graph->outputs()[0];
  for (int i = 0; i < 41; ++i)
    last = large.graph->insert(torch::jit::aten::relu, {last});
  large.graph->eraseOutput(0);
  large.graph->registerOutput(last);
  EXPECT_EQ(mermaid_graph(large, plain()), "");
}

} // namespace
} // namespace repro_minify
