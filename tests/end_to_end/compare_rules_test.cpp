// The rules of --compare through the real program: what only `close` and `exact` see is reduced, and every repro
// decides by the rule that was in force.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct Nearer {
  const char *name, *backend, *guilty;
};
constexpr Nearer nearer_cases[] = {{"remove_mutation_dtype", "pass:remove-mutation", "aten::add_"},
                                   {"autocast_tan", "autocast", "aten::tan"}};

fs::path model_of(const Nearer &one) {
  return fixtures() / "nearer" / one.name / "failing.pt";
}

TEST(CompareRules, NearerToFloat64PassesWhereFloat64DecidesAndIsSaid) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  for (const Nearer &one : nearer_cases)
    for (const char *rule : {"default", "pytorch", "strict"}) {
      const Finished text = run_tool({"run", model_of(one), "--backend", one.backend, "--compare", rule});
      EXPECT_EQ(text.exit_code, 0) << one.name << describe(text);
      EXPECT_TRUE(contains(text.out, "output differs, nearer to float64 than eager")) << describe(text);
    }
  const Finished finished =
      run_tool({"run", model_of(nearer_cases[0]), "--backend", nearer_cases[0].backend, "--json"});
  EXPECT_EQ(json::parse(finished.out).at("verdict").at("nearer_to_fp64"), "output") << describe(finished);
  const Finished reduce = run_tool({model_of(nearer_cases[0]), "--backend", nearer_cases[0].backend});
  EXPECT_EQ(reduce.exit_code, 1);
  EXPECT_TRUE(contains(reduce.err, "nearer to float64 than eager: --compare close or exact")) << reduce.err;
}

TEST(CompareRules, CloseAndExactReduceWhatIsNearerAndVerifyIt) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  for (const Nearer &one : nearer_cases) {
    const bool exact = &one == &nearer_cases[0]; // each rule once: building a repro takes seconds
    const TemporaryFolder folder;
    const Finished finished = run_tool({model_of(one), "--backend", one.backend, "--compare", exact ? "exact" : "close",
                                        "-o", folder / "x", "--quiet", verify});
    ASSERT_EQ(finished.exit_code, 0) << describe(finished);
    const json report = json::parse(read_text(folder / "x" / "report.json"));
    EXPECT_TRUE(report.at("verified")) << report;
    EXPECT_LE(report.at("after").at("operators"), 4) << report;
    EXPECT_EQ(report.at("compare"), exact ? "exact" : "close");
    EXPECT_EQ(report.at("tol"), nullptr);
    EXPECT_TRUE(contains(read_text(folder / "x" / "report.md"), one.guilty + std::string(one.guilty).find(':') + 2));
    EXPECT_TRUE(contains(read_text(folder / "x" / "repro.cpp"), exact ? "Bit for bit" : "assert_close"));
  }
}

TEST(CompareRules, AFineToleranceIsTheReprosToo) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const Finished finished = run_tool(
      one.with_backend({one.model(), "--compare", "strict", "--tol", "1e-6", "-o", folder / "x", "--quiet", verify}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(contains(read_text(folder / "x" / "repro.cpp"), "1e-06")) << read_text(folder / "x" / "repro.cpp");
}

TEST(CompareRules, AConfigurationWithoutAToleranceComesBackWithoutOne) {
  const Finished printed =
      run_tool({"run", model_of(nearer_cases[0]), "--backend", "eager", "--compare", "close", "--print-config"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_FALSE(contains(printed.out, "\ntol = ")) << printed.out;
  EXPECT_TRUE(contains(printed.out, "equal-nan = false")) << printed.out;
}

TEST(CompareRules, OptionsThatContradictEachOtherAreNamed) {
  const auto refused = [](const std::vector<std::string> &options, const std::string &sentence) {
    std::vector<std::string> arguments = {"run", model_of(nearer_cases[0]), "--backend", "eager"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished finished = run_tool(arguments);
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    EXPECT_TRUE(contains(finished.err, sentence)) << finished.err;
  };
  refused({"--compare", "exact", "--tol", "1e-3"}, "exact is bit for bit and has no tolerance");
  refused({"--compare", "exact", "--no-equal-nan"}, "under exact a NaN equals a NaN");
  refused({"--compare", "close", "--require-fp64"}, "close asks eager alone");
  refused({"--compare", "strict", "--cos-similarity"}, "it has no effect under strict");
  refused({"--compare", "close", "--force-max-multiplier"}, "it has no effect under close");
  refused({"--iou-threshold", "0.5"}, "has an effect with --use-iou-for-bool alone");
}

/// Each option of PyTorch's `same` decides otherwise than what goes without it.
TEST(CompareRules, EachOptionOfSameIsHeeded) {
  const std::string dtype = case_named("autocast_exp_dtype").model();
  const auto exit_code = [](std::vector<std::string> arguments, const std::vector<std::string> &more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments).exit_code;
  };
  const std::vector<std::string> wrong_dtype = {"run", dtype, "--backend", "autocast"};
  EXPECT_EQ(exit_code(wrong_dtype, {}), 1);
  EXPECT_EQ(exit_code(wrong_dtype, {"--no-exact-dtype"}), 0);

  // relu(x + y), and relu(x) > 1: a fault on purpose adds one to what relu gives.
  const std::string sum = case_named("pass_fuse_add_relu_nan").model();
  const std::string mask = fixtures() / "options" / "relu_above_one" / "failing.pt";
  const auto one_too_many = [](const std::string &model, const std::vector<std::string> &inputs) {
    std::vector<std::string> words = {"run",      model,           "--backend",  "inductor-like",
                                      "--inject", "relu-accuracy", "--no-timing"};
    for (const std::string &input : inputs)
      words.insert(words.end(), {"--input", input});
    return words;
  };
  const std::vector<std::string> whole = one_too_many(sum, {"i64[4,6]@1:9", "i64[4,6]@1:9"});
  EXPECT_EQ(exit_code(whole, {}), 1);
  EXPECT_EQ(exit_code(whole, {"--ignore-non-fp"}), 0);
  const std::vector<std::string> nearly_parallel = one_too_many(sum, {"f32[4,6]@10:20", "f32[4,6]@10:20"});
  EXPECT_EQ(exit_code(nearly_parallel, {}), 1);
  EXPECT_EQ(exit_code(nearly_parallel, {"--cos-similarity"}), 0);
  // Three to eight times as far from float64 as eager, which rounds to bfloat16: in few elements, and in many.
  const std::vector<std::string> few = one_too_many(sum, {"bf16[4,6]@64:128", "bf16[4,6]@64:128"});
  EXPECT_EQ(exit_code(few, {}), 1);
  EXPECT_EQ(exit_code(few, {"--use-larger-multiplier-for-smaller-tensor"}), 0);
  const std::vector<std::string> many = one_too_many(sum, {"bf16[40,60]@64:128", "bf16[40,60]@64:128"});
  EXPECT_EQ(exit_code(many, {"--use-larger-multiplier-for-smaller-tensor"}), 1);
  EXPECT_EQ(exit_code(many, {"--force-max-multiplier"}), 0);
  const std::vector<std::string> half_a_percent = one_too_many(mask, {"f32[4000]@0.995:2"});
  EXPECT_EQ(exit_code(half_a_percent, {}), 1);
  EXPECT_EQ(exit_code(half_a_percent, {"--use-iou-for-bool"}), 0);
  EXPECT_EQ(exit_code(half_a_percent, {"--use-iou-for-bool", "--iou-threshold", "0.999"}), 1);
  const std::vector<std::string> nan_on_both_sides = {"run", sum, "--backend", "eager"};
  EXPECT_EQ(exit_code(nan_on_both_sides, {}), 0);
  EXPECT_EQ(exit_code(nan_on_both_sides, {"--no-equal-nan"}), 1);
}

TEST(UnwrittenMemory, IsFoundAndHeldStillInTheRepro) {
  const Case one = case_named("nnc_const_group_garbage");
  const Finished run = run_tool(one.with_backend({"run", one.model(), "--json"}));
  EXPECT_EQ(json::parse(run.out).at("verdict").at("reads_unwritten_memory"), true) << describe(run);
  EXPECT_EQ(json::parse(run.out).at("verdict").at("nature").at("kind"), "uninitialised memory");
  const TemporaryFolder folder;
  const Finished finished = run_tool(one.with_backend({one.model(), "-o", folder / "x", "--quiet"}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(contains(read_text(folder / "x" / "repro.cpp"), "mallopt(M_PERTURB"));
  EXPECT_TRUE(contains(read_text(folder / "x" / "report.md"), "depends on uninitialised memory"));
  const Case other = case_named("freeze_linear_bn_3d");
  const json verdict = json::parse(run_tool(other.with_backend({"run", other.model(), "--json"})).out).at("verdict");
  EXPECT_EQ(verdict.at("reads_unwritten_memory"), false);
  EXPECT_EQ(verdict.at("nature").at("kind"), "wrong value");
}

} // namespace
} // namespace repro_minify::end_to_end
