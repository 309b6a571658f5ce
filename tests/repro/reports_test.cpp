// report.md and report.json say the same of a run, whatever came of it.
#include "core/files.h"
#include "repro/reported.h"
#include "repro/small_program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace repro_minify {
namespace {

using nlohmann::json;
using testing_support::facts_of;
using testing_support::small_program;

struct Reports {
  std::string text;
  json values;
};

Reports reports_of(const ReproFacts &facts) {
  const TemporaryFolder folder;
  write_reports(small_program(), facts, folder.path());
  return {read_file(folder / "report.md"), json::parse(read_file(folder / "report.json"))};
}

void expect_words(const std::string &text, const std::vector<std::string> &words) {
  for (const auto &word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
}

ReproFacts reported() {
  ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  facts.model_path = "some/model.pt";
  facts.before = {20, 7, 2, 1};
  facts.after = {3, 2, 1, 1};
  facts.checks = 17;
  facts.one_minimal = true;
  facts.verified = true;
  facts.script = {true, "run, and fails the same way", 9, 1.5};
  return facts;
}

TEST(Reports, OfAVerifiedRepro) {
  const Reports reports = reports_of(reported());
  expect_words(reports.text, {"accuracy failure under", "20 nodes, 7 operators → 3 nodes, 2 operators",
                              "yes: repro.cpp was built and run", "yes: run in an interpreter of its own",
                              "yes: no single operator, input or output can go", "compare default, tol 0.001"});
  EXPECT_EQ(reports.values.at("verified"), true);
  EXPECT_EQ(reports.values.at("repro_py").at("lines"), 9);
  EXPECT_EQ(reports.values.at("before").at("operators"), 7);
  EXPECT_EQ(reports.values.at("tol"), 0.001);
  EXPECT_EQ(reports.values.at("program").at("operators").size(), 1); // add, whatever its arguments
  EXPECT_TRUE(reports.values.at("bisect").is_null());
  EXPECT_FALSE(reports.values.at("simplifications").empty());
}

TEST(Reports, SayWhatDidNotVerify) {
  ReproFacts facts = reported();
  facts.verified = false;
  facts.verify_message = "it printed <nothing>";
  facts.script = {false, "it passes"};
  Reports reports = reports_of(facts);
  expect_words(reports.text, {"**no**: it printed", "no: it passes"});
  EXPECT_EQ(reports.text.find(" <nothing>"), std::string::npos) << "mark-up";
  EXPECT_EQ(reports.values.at("verification"), "it printed <nothing>");
  facts.verified.reset();
  reports = reports_of(facts);
  EXPECT_TRUE(reports.values.at("verified").is_null());
  facts.verify_message.clear();
  expect_words(reports_of(facts).text, {"| repro verified | not tried |"});
}

TEST(Reports, SayHowFarTheSearchCame) {
  ReproFacts facts = reported();
  facts.one_minimal = false;
  facts.not_shown_because = {"the time is up", "a pass was left out"};
  facts.interrupted = facts.out_of_time = true;
  facts.original_runs = 10;
  facts.original_failed = 4;
  facts.repetition = {5, 2};
  facts.hidden_by = "inlining";
  facts.has_passing = true;
  PassStatistics pass;
  pass.pass = "cut";
  pass.tried = 12;
  pass.operators_removed = 5;
  facts.passes = {pass, {}}; // what never had anything to try has no row
  const Reports reports = reports_of(facts);
  expect_words(reports.text, {"not shown: the time is up; a pass was left out", "inlining hides the failure",
                              "the original failed in 4 of 10 runs; a candidate had to in 2 of up to 5",
                              "`passing.pt` is the closest program that passes", "| cut | 0 | 12 |"});
  EXPECT_EQ(reports.values.at("interrupted"), true);
  EXPECT_EQ(reports.values.at("out_of_time"), true);
  EXPECT_EQ(reports.values.at("rate").at("failed"), 4);
  EXPECT_EQ(reports.values.at("passes").size(), 2);
}

TEST(Reports, OfWhatIsHandedBackAsItWas) {
  ReproFacts facts = reported();
  facts.one_minimal = false;
  facts.not_reduced = "its calls cannot be followed";
  const Reports reports = reports_of(facts);
  expect_words(reports.text, {"**Not reduced: this is the model as it was given.** its calls cannot be followed",
                              "| 1-minimal | no: not reduced |"});
  EXPECT_EQ(reports.values.at("not_reduced"), "its calls cannot be followed");
  EXPECT_TRUE(reports.values.at("program").is_null());
}

TEST(Reports, NameTheGuiltyStep) {
  ReproFacts facts = reported();
  Bisection bisection;
  bisection.steps = {"A", "B"};
  bisection.guilty = "B";
  bisection.message = "wrong after B";
  bisection.note = "It has a switch.";
  bisection.seconds = 0.5;
  facts.bisection = bisection;
  const Reports reports = reports_of(facts);
  expect_words(reports.text, {"**Wrong after B.** It has a switch. (2 steps, 0 checks, 0.5 s)"});
  EXPECT_EQ(reports.values.at("bisect").at("guilty"), "B");
}

TEST(Reports, SayWhatOtherBackendsDo) {
  ReproFacts facts = reported();
  OtherBackend passes{"freeze", {}, false}, unknown{"nnc", {}, false}, same{"static-runtime", {}, true},
      other{"optimize-for-inference", {}, false};
  passes.verdict.outcome = Verdict::Outcome::Pass;
  unknown.verdict.message = "no compiler";
  same.verdict.outcome = other.verdict.outcome = Verdict::Outcome::Fail;
  same.verdict.signatures = {facts.signature};
  other.verdict.signatures = {{FailureKind::Crash, "", "signal 11", 11}};
  facts.others = {passes, unknown, same, other};
  const Reports reports = reports_of(facts);
  expect_words(reports.text, {"| under freeze | does not fail |", "| under nnc | cannot be checked: no compiler |",
                              "| under static-runtime | fails too, with the same signature |",
                              "| under optimize-for-inference | fails too, with another signature: crash"});
  EXPECT_EQ(reports.values.at("other_backends").size(), 4);
  EXPECT_EQ(reports.values.at("other_backends").at(1).at("outcome"), "unresolved");
}

TEST(Reports, SayHowItWasCompared) {
  ReproFacts facts = reported();
  facts.check.compare.rule = CompareRule::Exact;
  facts.check.compare.equal_nan = false;
  facts.check.autocast = true;
  facts.check.determinism = Determinism::On;
  Reports reports = reports_of(facts);
  expect_words(reports.text, {"compare exact, NaN never equal", "autocast bfloat16", "deterministic algorithms on"});
  EXPECT_TRUE(reports.values.at("tol").is_null());
  facts.check.compare.rule = CompareRule::Close;
  facts.check.compare.tol_by_dtype = true;
  facts.check.device = at::Device(at::kCUDA, 0);
  reports = reports_of(facts);
  expect_words(reports.text, {"compare close, tol by dtype", "cuda:0", "TF32 off"});
  EXPECT_TRUE(reports.values.at("tol").is_null());
}

TEST(Reports, NameTheWrongLeaves) {
  ReproFacts facts = reported();
  LeafReport wrong;
  wrong.path = "[1]['logits']";
  wrong.same = false;
  wrong.kinds = {FailureKind::Dtype, FailureKind::Accuracy};
  wrong.nearer_to_fp64 = true;
  facts.original.outputs = {LeafReport{}, wrong};
  facts.original.gradients = {wrong};
  facts.reduced.outputs = {wrong};
  facts.reduced.failing_call = 2;
  facts.reads_unwritten = true;
  facts.libraries = {"operators.so"};
  facts.converted = "from a .pt2 of torch.export";
  const Reports reports = reports_of(facts);
  const json &leaves = reports.values.at("original").at("wrong");
  ASSERT_EQ(leaves.size(), 2);
  EXPECT_EQ(leaves.at(0).at("kinds"), json({"dtype", "accuracy"}));
  EXPECT_EQ(leaves.at(1).at("where"), "gradient");
  expect_words(reports.text,
               {"first wrong on call 2", "nearer to float64 than eager", "operators.so, as --load-library",
                "from a .pt2 of torch.export", "uninitialised memory"});
}

TEST(Reports, OfAnOraclesAnswer) {
  ReproFacts facts = reported();
  facts.signature = {FailureKind::Interesting, "", ""};
  const Reports reports = reports_of(facts);
  expect_words(reports.text, {"the oracle finds reduced.pt interesting"});
  const json &files = reports.values.at("files");
  EXPECT_EQ(std::count(files.begin(), files.end(), "repro.cpp"), 0);
}

} // namespace
} // namespace repro_minify
