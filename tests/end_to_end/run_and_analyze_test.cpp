// `run` and `analyze` through the real program.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

Finished run_case(const std::string &name, const std::vector<std::string> &more = {}) {
  const Case one = case_named(name);
  std::vector<std::string> arguments = one.with_backend({"run", one.model()});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_tool(arguments);
}

TEST(Run, ARowForEachOutputGradientAndBuffer) {
  const Finished finished = run_case("grad_82635_min_tie");
  EXPECT_EQ(finished.exit_code, 1);
  for (const char *part : {"output", "gradient of input 0", "DIFFERS", "eager RMSE", "median of", "fp64 reference yes"})
    EXPECT_TRUE(contains(finished.out, part)) << part << "\n" << finished.out;
}

/// A parameter is shown where the two sides leave something else in it.
TEST(Run, ARowForEachBufferWrittenToOrNot) {
  const Finished finished = run_tool({"run", fixtures() / "options" / "writes" / "failing.pt", "--backend", "jit"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  for (const char *row : {"\noutput ", "\nbuffer count ", "\nbuffer still "})
    EXPECT_TRUE(contains(finished.out, row)) << row << finished.out;
  EXPECT_FALSE(contains(finished.out, "\nparameter ")) << finished.out;
}

TEST(Run, JsonHasEveryNumber) {
  const Finished finished = run_case("freeze_linear_bn_3d", {"--json"});
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  const json result = json::parse(finished.out);
  const json leaf = result.at("details").at("outputs").at(0);
  for (const char *key : {"ref_type", "res_type", "ref_error", "res_error", "multiplier", "max_abs_error",
                          "max_rel_error", "worst_index", "ref_nan", "res_inf", "same", "message"})
    EXPECT_TRUE(leaf.contains(key)) << key;
  EXPECT_EQ(leaf.at("worst_position").size(), leaf.at("ref_form").at("sizes").size()) << leaf;
  EXPECT_GT(result.at("timing").at("calls").get<int>(), 2);
  EXPECT_GT(result.at("timing").at("eager_seconds").get<double>(), 0);
  EXPECT_EQ(result.at("settings").at("device"), "cpu");
  EXPECT_EQ(result.at("rate").at("runs"), 1);
}

TEST(Run, SeveralBackendsInOneProcess) {
  const std::string model = case_named("jit_type_as_dce").model();
  const Finished finished = run_tool({"run", model, "--backend", "eager,freeze,plugin:/no/such.so", "--json"});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished); // one fails; that another cannot be used changes nothing
  const json rows = json::parse(finished.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("verdict").at("outcome"), "pass");
  EXPECT_EQ(rows[1].at("verdict").at("outcome"), "fail");
  EXPECT_TRUE(rows[2].contains("refused")) << rows[2];
  EXPECT_TRUE(rows[0].at("timing").is_null() && rows[1].at("timing").is_null());
  EXPECT_EQ(run_tool({"run", model, "--backend", "eager,plugin:/no/such.so", "--json"}).exit_code, 2);
  EXPECT_EQ(run_tool({"run", model, "--backend", "eager,eager", "--json"}).exit_code, 0);
}

TEST(Run, UnderSeveralBackendsOnlyWhatDiffersIsShown) {
  const Case one = case_named("grad_82635_min_tie");
  const Finished finished = run_tool({"run", one.model(), "--grad", "--backend", "eager," + one.backend});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_TRUE(contains(finished.out, "PASS")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "gradient of input 0")) << finished.out;
  EXPECT_FALSE(contains(finished.out, "output")) << "it is the same\n" << finished.out;
}

TEST(Run, ARefusalSaysWhetherTheModelCanBeReadAtAll) {
  const std::string model = case_named("jit_type_as_dce").model();
  const TemporaryFolder folder;
  const std::string damaged = folder / "damaged.pt";
  std::ofstream(damaged) << "no archive";
  const auto refusals = [](const std::string &path, const std::string &backends) {
    const Finished finished = run_tool({"run", path, "--backend", backends, "--json"});
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    const json answer = json::parse(finished.out);
    json all = json::array();
    for (const json &row : answer.is_array() ? answer : json::array({answer}))
      if (row.contains("refused"))
        all.push_back(row.at("unreadable"));
    return all;
  };
  EXPECT_EQ(refusals(damaged, "eager"), json::array({true}));
  EXPECT_EQ(refusals(damaged, "eager,plugin:/no/such.so"), json::array({true, true}));
  EXPECT_EQ(refusals(model, "plugin:/no/such.so"), json::array({false}));
  EXPECT_EQ(refusals(model, "eager,plugin:/no/such.so"), json::array({false}));
}

TEST(Run, TimesAreMeasuredForOneBackendOrOnRequest) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string model = case_named("jit_type_as_dce").model();
  const auto timed = [&](const std::string &backends, const std::vector<std::string> &options) {
    std::vector<std::string> arguments{"run", model, "--backend", backends, "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const json answer = json::parse(run_tool(arguments).out);
    return !(answer.is_array() ? answer.at(0) : answer).at("timing").is_null();
  };
  EXPECT_TRUE(timed("eager", {}));
  EXPECT_FALSE(timed("eager", {"--no-timing"}));
  EXPECT_FALSE(timed("eager,freeze", {}));
  EXPECT_TRUE(timed("eager,freeze", {"--timing"}));
}

TEST(Run, NamesWhatTheBackendRewrote) {
  const Finished folded = run_case("freeze_linear_bn_3d");
  EXPECT_TRUE(contains(folded.out, "operators that the backend rewrote: aten::batch_norm\n")) << folded.out;
  const json details = json::parse(run_case("jit_75794_loop_swap", {"--json"}).out).at("details");
  EXPECT_EQ(details.at("rewritten"), json::array({"aten::zeros"})); // made once, as constants
}

TEST(Run, RunOnlyModeSeesWhatRaisesAndNothingElse) {
  EXPECT_EQ(run_case("freeze_linear_bn_3d", {"--check", "run"}).exit_code, 0);
  EXPECT_EQ(run_case("static_int_div_exc", {"--check", "run"}).exit_code, 1);
}

TEST(Run, RunOnlyModeReducesAnException) {
  const Case one = case_named("static_int_div_exc");
  const TemporaryFolder folder;
  const Finished finished =
      run_tool(one.with_backend({one.model(), "--check", "run", "-o", folder / "x", "-q", "--no-verify"}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_EQ(json::parse(read_text(folder / "x" / "report.json")).at("after").at("operators"), 1);
}

TEST(Run, AutocastOfAnyBackend) {
  const Finished finished = run_case("freeze_linear_bn_3d", {"--autocast", "--json"});
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_TRUE(contains(json::parse(finished.out).at("details").at("outputs").at(0).at("ref_type"), "bfloat16"));
}

TEST(Run, AReductionUnderAutocastIsVerified) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const Finished finished = run_tool(one.with_backend({one.model(), "--autocast", "-o", folder / "x", "-q", verify}));
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  const json report = json::parse(read_text(folder / "x" / "report.json"));
  EXPECT_EQ(report.at("verified"), true);
  EXPECT_EQ(report.at("autocast"), "bfloat16");
  EXPECT_TRUE(contains(read_text(folder / "x" / "repro.cpp"), "set_autocast_enabled"));
}

TEST(Run, MistakesWithDevicesAndModes) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::pair<std::vector<std::string>, std::string> mistakes[] = {
      {{"--device", "toaster"}, "toaster"},
      {{"--device", "mps"}, "--device mps"},
      {{"--device", "cuda:99"}, "cuda:99"},
      {{"--only-fwd", "--grad"}, "--only-fwd"},
      {{"--need", "2"}, "--need 2"},
      {{"--check", "hope"}, "--check"},
      {{"--train"}, "--train"}, // freezing is for eval mode
  };
  for (const auto &[options, names] : mistakes) {
    const Finished finished = run_case("freeze_linear_bn_3d", options);
    EXPECT_EQ(finished.exit_code, 2) << describe(finished);
    EXPECT_EQ(finished.out, "");
    EXPECT_TRUE(contains(finished.err, names)) << describe(finished);
  }
}

struct Analysed {
  const char *name;
  const char *first; ///< the operator
};

void PrintTo(const Analysed &one, std::ostream *stream) {
  *stream << one.name;
}

class Analyze : public testing::TestWithParam<Analysed> {};

TEST_P(Analyze, FindsTheOperatorAndDraws) {
  if (std::string(GetParam().name).rfind("big_", 0) == 0)
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const Case one = case_named(GetParam().name);
  const TemporaryFolder folder;
  const fs::path out = folder / "a";
  const Finished finished = run_tool(one.with_backend({"analyze", one.model(), "-o", out}));
  ASSERT_EQ(finished.exit_code, 1) << describe(finished);
  EXPECT_TRUE(contains(finished.out, std::string("= ") + GetParam().first)) << finished.out;
  const json result = json::parse(read_text(out / "analysis.json"));
  ASSERT_TRUE(result.at("first").is_number()) << result.dump(1).substr(0, 500);
  EXPECT_EQ(result.at("values").at(result.at("first").get<int>()).at("operator"), GetParam().first);
  EXPECT_TRUE(contains(read_text(out / "analysis.dot"), "color=red"));
  if (run_program({"dot", "-V"}).exit_code == 0) {
    EXPECT_TRUE(contains(read_text(out / "analysis.svg"), "<svg"));
  }
}

// One for each backend, and each way: values returned all at once, and prefixes of what raises, of a gradient, of what
// fusion hides.
INSTANTIATE_TEST_SUITE_P(
    Cases, Analyze,
    testing::Values(Analysed{"freeze_linear_bn_3d", "aten::batch_norm"},
                    Analysed{"jit_peephole_bool_mul1", "aten::mul"}, Analysed{"big_jit_bool_mask", "aten::mul"},
                    Analysed{"nnc_round_half", "aten::round"}, Analysed{"ofi_clamp_min_assert", "aten::clamp"},
                    Analysed{"static_int_div_exc", "aten::div"}, Analysed{"autocast_lerp_exc", "aten::lerp"},
                    Analysed{"pass_peephole_bool_add0", "aten::add"}, Analysed{"big_grad_max_tie", "aten::max"},
                    Analysed{"big_jit_loop_swap", "prim::Loop"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(AnalyzeCommand, AModelThatIsRight) {
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  const Finished finished = run_tool({"analyze", one.model(), "--backend", "eager", "-o", folder / "a", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(json::parse(finished.out).at("first").is_null());
}

TEST(AnalyzeCommand, TouchesNothingThatExists) {
  const Case one = case_named("freeze_linear_bn_3d");
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.txt") << "mine";
  const Finished finished = run_tool({"analyze", one.model(), "--backend", "freeze", "-o", folder.path()});
  EXPECT_EQ(finished.exit_code, 2) << describe(finished);
  EXPECT_TRUE(contains(finished.err, "--force")) << finished.err;
}

} // namespace
} // namespace repro_minify::end_to_end
