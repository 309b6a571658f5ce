#include "repro/small_program.h"
#include "repro/triage.h"
#include "repro/workaround.h"
#include "repro_minify/backend.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace repro_minify {
namespace {

ReproFacts of_inductor() {
  ReproFacts facts = testing_support::facts_of(FailureKind::Accuracy, false, false);
  facts.backend = make_backend("inductor");
  facts.ablation.push_back({ablation_names::partitioned, "passes", false});
  facts.generated = GeneratedCode{
      "cpp",
      "auto tmp1 = tmp0.sinh();",
      "",
      {{"aten.round.decimals", "decomposition", "round_dec", "torch/_inductor/decomposition.py", 347,
        "def round_dec(x):"},
       {"aten.sinh.default", "code generation", "CppVecOverrides.sinh", "torch/_inductor/codegen/cpp.py", 1503, ""}}};
  return facts;
}

TEST(GeneratedCode, IsTheKernelWhereDecompositionsAreRight) {
  const nlohmann::json blocks = generated_code_json(of_inductor());
  ASSERT_EQ(blocks.size(), 1);
  EXPECT_EQ(blocks[0]["cpp_code"]["code"], "auto tmp1 = tmp0.sinh();");
  EXPECT_FALSE(blocks[0].contains("python_code"));
  const std::string heading = blocks[0]["heading"];
  EXPECT_NE(heading.find("`aten.sinh`: `CppVecOverrides.sinh`"), std::string::npos) << heading;
}

TEST(GeneratedCode, NamesTheOperatorAloneThatExplainsTheFailure) {
  ReproFacts facts = of_inductor();
  facts.explanation = {"unwrapped", "torch.sinh(x)", "torch.int8", "sinh"};
  facts.generated->origins.push_back({"aten.gt.Scalar", "code generation", "gt", "torch/a.py", 1, ""});
  const std::string heading = generated_code_json(facts)[0]["heading"];
  EXPECT_NE(heading.find("aten.sinh"), std::string::npos) << heading;
  EXPECT_EQ(heading.find("aten.gt"), std::string::npos) << heading;
  EXPECT_NE(explanation_sentence(facts).find("wrapped to int8. C++ promotes it to `int`."), std::string::npos);
  facts.explanation->other = "torch.int32";
  EXPECT_NE(explanation_sentence(facts).find("C++ does not define the overflow"), std::string::npos);
  facts.explanation->operator_name = "sin";
  EXPECT_TRUE(explained_origins(facts).empty());
}

/// A write that comes too late is the fault of no operator's code.
TEST(GeneratedCode, NamesNoPlaceWhereTheOrderIsWrong) {
  ReproFacts facts = of_inductor();
  facts.explanation = {"after", "x[:] = y", "y.sinh()"};
  EXPECT_EQ(generated_code_json(facts)[0]["heading"], "What TorchInductor generates, without braces:");
}

TEST(GeneratedCode, OfAGradientIsTheBackwardOperators) {
  ReproFacts facts = of_inductor();
  facts.signature.where = "gradient";
  facts.explanation = {"divides by", "F.avg_pool2d(x, 2)", "4", "avg_pool2d"};
  facts.generated->origins = {
      {"aten.avg_pool2d.default", "lowering", "avg_pool2d", "torch/a.py", 1, ""},
      {"aten.avg_pool2d_backward.default", "lowering", "avg_pool2d_backward", "torch/a.py", 2, ""}};
  const auto found = explained_origins(facts);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].line, 2);
}

TEST(GeneratedCode, HasTheCallsOfOtherLibraries) {
  ReproFacts facts = of_inductor();
  facts.generated->calls = "extern_kernels.mm(arg0_1, arg1_1, out=buf0)";
  nlohmann::json block = generated_code_json(facts)[0];
  EXPECT_EQ(block["python_code"]["code"], facts.generated->calls);
  EXPECT_TRUE(block.contains("cpp_code"));
  facts.generated->language = facts.generated->code = "";
  block = generated_code_json(facts)[0];
  EXPECT_EQ(block["python_code"]["code"], facts.generated->calls);
  EXPECT_FALSE(block.contains("cpp_code"));
}

TEST(GeneratedCode, IsFoldedWhereItIsLong) {
  ReproFacts facts = of_inductor();
  EXPECT_FALSE(generated_code_json(facts)[0].contains("folded"));
  facts.generated->code = std::string(30, '\n');
  EXPECT_EQ(generated_code_json(facts)[0]["folded"]["lines"], 31);
}

TEST(GeneratedCode, IsTheDecompositionWhereThatIsWrong) {
  ReproFacts facts = of_inductor();
  facts.ablation.back().fails = true;
  const nlohmann::json blocks = generated_code_json(facts);
  ASSERT_EQ(blocks.size(), 1) << "the kernel computes what it is told to";
  EXPECT_EQ(blocks[0]["python_code"]["code"], "def round_dec(x):");
}

TEST(GeneratedCode, IsThatOfAOTAutogradWhereDecompositionsAloneAreWrong) {
  ReproFacts facts = of_inductor();
  facts.generated->origins.push_back(
      {"aten.upsample_nearest2d.default", "core decomposition", "upsample_nearest2d", "torch/a.py", 7, ""});
  EXPECT_EQ(std::string(generated_code_json(facts)[0]["heading"]).find("torch/a.py"), std::string::npos);
  facts.ablation.push_back({ablation_names::aot_eager, "fails", true});
  EXPECT_EQ(generated_code_json(facts).size(), 0) << "it may be functionalization";
  facts.ablation.push_back({ablation_names::decomposed, "fails", true});
  const nlohmann::json blocks = generated_code_json(facts);
  ASSERT_EQ(blocks.size(), 1);
  EXPECT_EQ(blocks[0]["heading"],
            "The decomposition of `aten.upsample_nearest2d` (`upsample_nearest2d`, `torch/a.py:7`).");
}

TEST(GeneratedCode, IsOfTheGuiltyDecompositionAlone) {
  ReproFacts facts = of_inductor();
  facts.generated->origins.push_back({"aten.index_add.default", "decomposition", "index_add", "torch/a.py", 1, ""});
  facts.bisection.emplace().kind = StepKind::Decomposition;
  facts.bisection->name = "index_add";
  const nlohmann::json blocks = generated_code_json(facts);
  ASSERT_EQ(blocks.size(), 1);
  EXPECT_FALSE(blocks[0].contains("python_code")) << "its source is too long to be shown";
  facts.bisection->name = "aten.round.decimals"; // the bisector's name for what has another overload than the default
  ASSERT_EQ(generated_code_json(facts).size(), 1);
  EXPECT_TRUE(generated_code_json(facts)[0].contains("python_code"));
}

TEST(GeneratedCode, SaysWhereTheGuiltyPassIs) {
  ReproFacts facts = of_inductor();
  facts.generated->origins.push_back({"fold", "pass", "fold", "torch/_inductor/fx_passes/post_grad.py", 9, ""});
  const nlohmann::json blocks = generated_code_json(facts);
  ASSERT_EQ(blocks.size(), 2);
  EXPECT_EQ(blocks[0]["heading"], "The pass: `fold`, `torch/_inductor/fx_passes/post_grad.py:9`.");
  EXPECT_EQ(std::string(blocks[1]["heading"]).find("post_grad"), std::string::npos) << blocks[1];
}

TEST(GeneratedCode, IsNothingWhereTheFailureIsNotInductors) {
  ReproFacts facts = of_inductor();
  facts.ablation.push_back({ablation_names::aot_eager, "fails in the same way", true});
  EXPECT_TRUE(generated_code_json(facts).empty());
  facts = of_inductor();
  facts.backend = make_backend("freeze");
  EXPECT_TRUE(generated_code_json(facts).empty());
}

} // namespace
} // namespace repro_minify
