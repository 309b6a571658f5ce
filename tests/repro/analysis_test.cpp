// Where eager and optimised part, on real failures of every kind.
#include "program/fixture.h"
#include "repro_minify/analysis.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace repro_minify {
namespace {

using State = AnalysisRow::State;

struct Expected {
  const char *model, *backend;
  bool grad;
  Analysis::Way way;
  const char *first; ///< the operator that fails first
};

void PrintTo(const Expected &expected, std::ostream *stream) {
  *stream << expected.model;
}

Analysis analysis_of(const std::string &model, const std::string &backend, bool grad, int jobs = 2) {
  const auto loaded = testing_support::load_case(model);
  const Program inlined = flatten_calls(loaded.model, loaded.inputs.values);
  AnalyzeOptions options;
  options.check.grad = grad;
  options.limits = testing_support::test_limits();
  options.jobs = jobs;
  const std::shared_ptr<const Backend> which = make_backend(backend);
  const Verdict verdict = check(factory_of(std::make_shared<Program>(inlined)), which, options.check, options.limits);
  return analyze(inlined, verdict, which, options);
}

class Analyses : public testing::TestWithParam<Expected> {};

TEST_P(Analyses, FindTheFirstOperatorThatFails) {
  const Expected &expected = GetParam();
  const Analysis analysis = analysis_of(expected.model, expected.backend, expected.grad);
  EXPECT_EQ(analysis.way, expected.way) << analysis.why;
  EXPECT_EQ(analysis.why.empty(), expected.way == Analysis::Way::Exposed);
  ASSERT_TRUE(analysis.first);
  EXPECT_EQ(analysis.rows[*analysis.first].op, expected.first) << analysis.rows[*analysis.first].message;
  EXPECT_NE(analysis.rows[*analysis.first].message, "");
  // Nothing before it fails.
  for (int i = 0; i < *analysis.first; ++i)
    EXPECT_NE(analysis.rows[i].state, analysis.rows[*analysis.first].state) << i;
}

constexpr auto exposed = Analysis::Way::Exposed;
constexpr auto prefixes = Analysis::Way::Prefixes;

INSTANTIATE_TEST_SUITE_P(
    Cases, Analyses,
    testing::Values(Expected{"freeze_linear_bn_3d", "freeze", false, exposed, "aten::batch_norm"},
                    // Wrong only beside a second operator: the fuser takes no group of one.
                    Expected{"nnc_round_half", "nnc", false, exposed, "aten::round"},
                    Expected{"nnc_hardshrink_nan", "nnc", false, exposed, "aten::hardshrink"},
                    Expected{"jit_peephole_bool_mul1", "jit", false, prefixes, "aten::mul"},
                    Expected{"pass_peephole_bool_add0", "pass:peephole", false, prefixes, "aten::add"},
                    Expected{"ofi_clamp_min_assert", "optimize-for-inference", false, prefixes, "aten::clamp"},
                    Expected{"static_int_div_exc", "static-runtime", false, prefixes, "aten::div"},
                    Expected{"autocast_lerp_exc", "autocast", false, prefixes, "aten::lerp"},
                    Expected{"big_ofi_clamp_min", "optimize-for-inference", false, prefixes, "aten::clamp"},
                    // Autodiff takes two operators or more: the first prefix that fails ends after the wrong one.
                    Expected{"grad_82635_min_tie", "jit", true, prefixes, "aten::mul"}),
    [](const auto &info) { return std::string(info.param.model); });

TEST(Analysis, IsTheSameForAnyNumberOfJobs) {
  const Analysis one = analysis_of("jit_peephole_bool_mul1", "jit", false, 1);
  for (int jobs : {2, 4}) {
    const Analysis more = analysis_of("jit_peephole_bool_mul1", "jit", false, jobs);
    EXPECT_EQ(one.first, more.first);
    EXPECT_EQ(to_dot(one), to_dot(more));
  }
}

TEST(Analysis, AModelThatPassesHasNoFirst) {
  const Analysis analysis = analysis_of("freeze_linear_bn_3d", "eager", false);
  EXPECT_FALSE(analysis.first);
  EXPECT_EQ(analysis.way, exposed);
  for (const auto &row : analysis.rows) {
    EXPECT_EQ(row.state, State::Same) << row.value << ": " << row.message;
    EXPECT_FALSE(std::isnan(row.report.ref_error)) << row.value << " has no error against fp64";
  }
}

/// Written to later: what is compared is the value as it was right after the operator that made it.
TEST(Analysis, SeesValuesAsTheyWereMade) {
  torch::jit::Module module("__torch__.InPlace");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define("def forward(self, x: Tensor) -> Tensor:\n  y = x + 1\n  z = y * 2\n  y.mul_(3)\n  return y + z\n");
  const std::vector<c10::IValue> arguments = {at::ones({2})};
  const Program program = flatten_calls({"", module, "forward"}, arguments);
  AnalyzeOptions options;
  options.limits = testing_support::test_limits();
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Pass;
  const Analysis analysis = analyze(program, verdict, make_backend("eager"), options);
  ASSERT_EQ(analysis.rows.size(), 4u);
  for (const auto &row : analysis.rows)
    EXPECT_EQ(row.state, State::Same) << row.value << ": " << row.message;
  EXPECT_EQ(analysis.rows[1].reads, std::vector<int>{0});
}

/// The rows show the values of both sides, which come from the child that has checked them.
TEST(Analysis, ShowsTheValuesOfTheCallThatFails) {
  const auto loaded = testing_support::load_case("freeze_linear_bn_3d");
  const auto program = std::make_shared<Program>(flatten_calls(loaded.model, loaded.inputs.values));
  AnalyzeOptions options;
  options.limits = testing_support::test_limits();
  options.shown_elements = 4;
  const std::shared_ptr<const Backend> freeze = make_backend("freeze");
  const Verdict verdict = check(factory_of(program), freeze, options.check, options.limits);
  const auto recording =
      std::make_shared<Recording>(record(*program, run_settings(*freeze, options.check), options.limits));
  Analyzer under_way(verdict, freeze, options, recording);
  const Analyzer ended_early(verdict, freeze, options, recording);
  const Analysis analysis = under_way.take();
  ASSERT_TRUE(analysis.first);
  for (const auto &row : analysis.rows) {
    EXPECT_EQ(row.shown.expected.size(), 4u) << row.value;
    EXPECT_EQ(row.shown.found == row.shown.expected, row.state == State::Same) << row.value;
  }
}

using Part = AnalysisRow::Part;

/// A batch norm is folded wrongly into the linear layer before it. What reads its result inherits that.
TEST(Analysis, TellsTheCauseFromWhatCarriesIt) {
  const Analysis analysis = analysis_of("big_freeze_linear_bn_3d", "freeze", false);
  ASSERT_TRUE(analysis.first);
  const AnalysisRow &cause = analysis.rows.at(*analysis.first);
  EXPECT_EQ(cause.op, "aten::batch_norm");
  EXPECT_EQ(cause.part, Part::Cause);
  EXPECT_EQ(word_of(cause), "cause");
  EXPECT_EQ(analysis.rows.back().part, Part::Carrier);
  for (const auto &row : analysis.rows) {
    EXPECT_EQ(row.part == Part::Cause, &row == &cause) << row.value;
  }
  const auto json = nlohmann::json::parse(to_json(analysis));
  EXPECT_EQ(json.at("values").at(*analysis.first).at("part"), "cause");
  EXPECT_EQ(json.at("values").back().at("part"), "carrier");
}

/// freeze folds a batch norm into a linear layer whose result others read, which only a program that returns both has.
TEST(Analysis, WhatIsWrongOnlyWhereEveryValueIsReturnedIsNoCause) {
  const Analysis analysis = analysis_of("freeze_linear_bn_3d", "freeze", false);
  ASSERT_EQ(analysis.rows.size(), 2u);
  EXPECT_EQ(analysis.rows[0].state, State::Same) << analysis.rows[0].message;
  EXPECT_EQ(analysis.rows[0].part, Part::None);
  EXPECT_EQ(analysis.rows[1].part, Part::Cause);
  EXPECT_EQ(analysis.checks, 3) << "the linear layer by itself, and whether the batch norm follows from it as it was";
}

/// The backend drops a write. What reads that memory differs, though all that it is made from was right when made.
TEST(Analysis, WhatReadsMemoryThatWasWrittenToIsNotCalledTheCause) {
  const Analysis analysis = analysis_of("jit_type_as_dce", "jit", false);
  ASSERT_TRUE(analysis.first);
  EXPECT_EQ(analysis.rows[*analysis.first].op, "aten::add");
  EXPECT_TRUE(analysis.rows[*analysis.first].reads_written);
  for (const auto &row : analysis.rows)
    EXPECT_NE(row.part, Part::Cause) << row.op;
}

Program linear_and_norm_of_matrices() {
  torch::jit::Module module("__torch__.LinearAndNorm");
  module.register_attribute("training", c10::BoolType::get(), false);
  for (const char *name : {"mean", "variance"})
    module.register_buffer(name, at::arange(1, 5, at::kFloat));
  module.register_buffer("weight", at::arange(20, at::kFloat).reshape({4, 5}));
  module.define("def forward(self, x: Tensor) -> Tensor:\n"
                "  y = torch.linear(x, self.weight)\n"
                "  return torch.batch_norm(y, None, None, self.mean, self.variance, False, 0.1, 1e-05, True)\n");
  return flatten_calls({"", module, "forward"}, {at::ones({3, 5})});
}

TEST(Analysis, OfAModelThatPassesAccusesNothing) {
  const auto program = std::make_shared<Program>(linear_and_norm_of_matrices());
  AnalyzeOptions options;
  options.limits = testing_support::test_limits();
  const std::shared_ptr<const Backend> freeze = make_backend("freeze");
  const Verdict verdict = check(factory_of(program), freeze, options.check, options.limits);
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  const Analysis analysis = analyze(*program, verdict, freeze, options);
  EXPECT_FALSE(analysis.first);
  EXPECT_EQ(analysis.checks, 2) << "the linear layer is asked again";
  for (const auto &row : analysis.rows) {
    EXPECT_EQ(row.part, Part::None) << row.op;
    EXPECT_EQ(row.state, State::Same) << row.op << ": " << row.message;
  }
}

TEST(Analysis, OfWhatRaisesOneValueIsTheCause) {
  const Analysis analysis = analysis_of("big_ofi_clamp_min", "optimize-for-inference", false);
  int causes = 0;
  for (const auto &row : analysis.rows)
    causes += row.part == AnalysisRow::Part::Cause;
  EXPECT_EQ(causes, 1);
  EXPECT_EQ(analysis.rows.at(analysis.first.value()).part, AnalysisRow::Part::Cause);
  for (const auto &row : analysis.rows) { // there is no value that could be wrong
    EXPECT_NE(word_of(row), "cause") << row.op;
    EXPECT_NE(word_of(row), "carrier") << row.op;
  }
  EXPECT_EQ(word_of(analysis.rows.at(analysis.first.value())), "fails here");
}

/// A value between the operator that raises and its reader passes, and says nothing of either.
TEST(Analysis, FindsWhatRaisesThoughALaterValuePasses) {
  torch::jit::Module module("__torch__.Branches");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define("def forward(self, x: Tensor, y: Tensor) -> Tensor:\n"
                "  quotient = torch.div(x, x)\n"
                "  s = torch.sin(torch.relu(y))\n"
                "  return torch.tanh(torch.mul(quotient, s))\n");
  const Program program = flatten_calls({"", module, "forward"}, {at::ones({3}, at::kLong), at::ones({3})});
  AnalyzeOptions options;
  options.limits = testing_support::test_limits();
  const std::shared_ptr<const Backend> backend = make_backend("static-runtime");
  const Verdict verdict = check(factory_of(std::make_shared<Program>(program)), backend, options.check, options.limits);
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail) << verdict.message;
  const Analysis analysis = analyze(program, verdict, backend, options);
  ASSERT_TRUE(analysis.first);
  EXPECT_EQ(analysis.rows[*analysis.first].op, "aten::div");
  EXPECT_EQ(word_of(analysis.rows[*analysis.first]), "fails here");
  EXPECT_EQ(word_of(analysis.rows.back()), "not reached");
}

/// The value agrees, and its gradient does not.
TEST(Analysis, OfAWrongGradientNoValueIsTheCause) {
  const Analysis analysis = analysis_of("grad_82635_min_tie", "jit", true);
  ASSERT_TRUE(analysis.first);
  EXPECT_EQ(word_of(analysis.rows[*analysis.first]), "fails here");
  for (const auto &row : analysis.rows)
    EXPECT_NE(word_of(row), "cause") << row.op;
}

/// A picture may not take a thousand checks.
TEST(Analysis, AsksNoMoreThanItMay) {
  const auto loaded = testing_support::load_case("grad_82635_min_tie");
  const Program inlined = flatten_calls(loaded.model, loaded.inputs.values);
  AnalyzeOptions options;
  options.check.grad = true;
  options.limits = testing_support::test_limits();
  options.most_checks = 1;
  const std::shared_ptr<const Backend> jit = make_backend("jit");
  const Verdict verdict = check(factory_of(std::make_shared<Program>(inlined)), jit, options.check, options.limits);
  const Analysis analysis = analyze(inlined, verdict, jit, options);
  EXPECT_FALSE(analysis.is_compared);
  EXPECT_EQ(analysis.checks, 0);
  EXPECT_FALSE(analysis.rows.empty());
  EXPECT_NE(analysis.rows.front().type, "");
}

TEST(Analysis, NamesTheLineOfTheSource) {
  const Analysis analysis = analysis_of("freeze_linear_bn_3d", "freeze", false);
  ASSERT_TRUE(analysis.first);
  EXPECT_NE(analysis.rows[*analysis.first].source.find("batch_norm("), std::string::npos)
      << analysis.rows[*analysis.first].source;
}

TEST(Analysis, TravelsAsJsonAndAsAPicture) {
  Analysis analysis;
  AnalysisRow row;
  row.value = "%evil\"]; x -> y [\n";
  row.op = "aten::</script>";
  row.state = State::Differs;
  row.report.res_error = INFINITY;
  analysis.rows = {row, row};
  analysis.rows[1].reads = {0};
  analysis.first = 1;
  const auto json = nlohmann::json::parse(to_json(analysis));
  EXPECT_EQ(json.at("values").at(0).at("value"), row.value);
  EXPECT_EQ(json.at("values").at(0).at("optimised_error"), "inf");
  EXPECT_EQ(json.at("first"), 1);
  const std::string dot = to_dot(analysis);
  EXPECT_NE(dot.find("0->1"), std::string::npos) << dot;
  EXPECT_EQ(dot.find("%evil\"]"), std::string::npos) << dot;
}

} // namespace
} // namespace repro_minify
