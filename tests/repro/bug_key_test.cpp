// Which operators tell one bug from another, whatever model they were found in.
#include "repro/small_program.h"
#include "repro/triage.h"

#include <gtest/gtest.h>

#include <set>

namespace repro_minify {
namespace {

std::string essence(const std::vector<std::string> &names) {
  std::vector<std::string> operators;
  for (const std::string &name : names)
    operators.push_back("aten::" + name);
  return essence_of(operators);
}

TEST(Essence, IsTheRarest) {
  for (const auto &host : std::vector<std::vector<std::string>>{
           {"hardshrink"}, {"hardshrink", "mul"}, {"add", "hardshrink", "relu"}, {"hardshrink", "clamp", "view"}})
    EXPECT_EQ(essence(host), "hardshrink");
  EXPECT_EQ(essence({"mul", "sigmoid"}), essence({"sum", "sigmoid"}));
  EXPECT_NE(essence({"sigmoid"}), essence({"tanh"}));
  EXPECT_EQ(essence({"mul", "pow"}), essence({"pow"}));
  EXPECT_NE(essence({"pow"}), essence({"div"}));
  EXPECT_NE(essence({"min", "relu"}), essence({"max", "relu"}));
  EXPECT_EQ(essence({"batch_norm", "linear"}), essence({"batch_norm", "conv2d"}));
  EXPECT_NE(essence({"einsum", "hardshrink"}), essence({"hardshrink"})) << "both are rare";
  EXPECT_NE(essence({"mul"}), essence({"add"})) << "where nothing else is left";
}

TEST(Essence, OfOneOperatorInSeveralWidthsIsOne) {
  EXPECT_EQ(essence({"max_pool1d"}), essence({"max_pool3d"}));
  for (const char *name : {"conv1d", "conv2d", "_convolution", "convolution"})
    EXPECT_EQ(essence({name}), "conv");
  EXPECT_NE(essence({"conv_transpose2d"}), essence({"conv2d"}));
  EXPECT_NE(essence({"upsample_nearest2d"}), essence({"upsample_bilinear2d"}));
}

TEST(Essence, SaysThatSomethingIsWrittenAndNotWhat) {
  std::set<std::string> writes, views;
  for (const char *name : {"add_", "mul_", "copy_", "fill_", "zero_"})
    writes.insert(essence({"einsum", name}));
  for (const char *name : {"t_", "transpose_", "unsqueeze_"})
    views.insert(essence({"detach", name}));
  EXPECT_EQ(writes, std::set<std::string>{"einsum a write"});
  EXPECT_EQ(views, std::set<std::string>{"detach a view in place"});
  EXPECT_EQ(essence({"einsum", "relu_"}), "einsum relu_") << "an operator of its own that writes";
  EXPECT_EQ(essence({"add_", "mul"}), essence({"add_", "add"}));
  EXPECT_NE(essence({"add_", "mul"}), essence({"mul"}));
  EXPECT_NE(essence({"add_"}), essence({"mul_"})) << "where nothing else is left";
}

TEST(Essence, IsTheSameInEachDialect) {
  const std::string pooled = essence({"avg_pool2d", "mul"});
  EXPECT_EQ(essence_of({"torch.nn.functional.avg_pool2d", "operator.mul"}), pooled);
  EXPECT_EQ(essence_of({"torch.ops.aten.avg_pool2d.default", ".mul"}), pooled);
  EXPECT_EQ(essence_of({"torch.ops.mine.add.default", ".mul"}), "torch.ops.mine.add.default")
      << "an operator of the user's own is no common one";
}

TEST(BugKey, OfAStepThatGivesTypesHasNoOperators) {
  ReproFacts facts = testing_support::facts_of(FailureKind::Dtype, false, true);
  facts.bisection = {.guilty = "Autocast", .pass = "Autocast"};
  EXPECT_EQ(bug_key(testing_support::small_program(), facts).essence, "the types that Autocast gives");
  facts.bisection = {.guilty = "inductor/lowerings#2", .pass = "inductor/lowerings"};
  const BugKey key = bug_key(testing_support::small_program(), facts);
  EXPECT_EQ(key.essence, "add");
  EXPECT_EQ(key.guilty, "inductor/lowerings") << "the second in this program";
}

} // namespace
} // namespace repro_minify
