// Sentences of the reports on other versions of PyTorch, and repro.py run in a Python.
#include "all_tests.h"
#include "backends/in_python.h"
#include "repro/small_program.h"
#include "repro/triage.h"
#include "repro/workaround.h"

#include <gtest/gtest.h>

#include <fstream>

namespace repro_minify {
namespace {

using testing_support::facts_of;
using Outcome = VersionRow::Outcome;

ReproFacts with(const std::vector<VersionRow> &rows) {
  ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  facts.versions = rows;
  return facts;
}

const VersionRow here{"2.13.0+cpu", Outcome::Wrong};

TEST(Versions, SayWhichAreRightAndWhichSideMoved) {
  EXPECT_EQ(
      versions_sentence(with({here, {"2.9.1+cu130", Outcome::Right, "", true, false}, {"2.15.0", Outcome::Wrong}})),
      "Right in PyTorch 2.9.1, wrong in 2.13.0 and 2.15.0. From 2.9.1 to 2.13.0 the compiled result changed, "
      "eager's did not.");
  EXPECT_EQ(
      versions_sentence(with({here, {"2.15.0", Outcome::Right, "", false, true}})),
      "Right in PyTorch 2.15.0, wrong in 2.13.0. From 2.13.0 to 2.15.0 eager's result changed, the compiled one did "
      "not.");
  EXPECT_EQ(versions_sentence(with({here, {"2.12.1", Outcome::Right, "", false, false}})),
            "Right in PyTorch 2.12.1, wrong in 2.13.0. From 2.12.1 to 2.13.0 both results changed.");
  EXPECT_EQ(versions_sentence(with({here, {"2.12.1", Outcome::Wrong}, {"", Outcome::NoAnswer, "no torch"}})),
            "Wrong in PyTorch 2.12.1 and 2.13.0.");
  EXPECT_EQ(versions_sentence(with({})), "");
}

TEST(Versions, AreInTheOrderOfTheirNumbers) {
  EXPECT_EQ(versions_sentence(with({{"2.10.0", Outcome::Wrong}, {"2.9.0", Outcome::Right}, {"2.8.0", Outcome::Right}})),
            "Right in PyTorch 2.8.0 and 2.9.0, wrong in 2.10.0.");
}

TEST(Versions, TellARegressionOfTheCompiler) {
  EXPECT_TRUE(is_regression(with({here, {"2.12.1", Outcome::Right, "", true, false}})));
  EXPECT_FALSE(is_regression(with({here, {"2.12.1", Outcome::Right, "", false, true}}))) << "eager changed";
  EXPECT_FALSE(is_regression(with({here, {"2.15.0", Outcome::Right, "", true, false}}))) << "mended since";
  ReproFacts facts = with({here, {"2.12.1", Outcome::Right, "", true, false}});
  bool labelled = false;
  for (const ProposedLabel &label : proposed_labels(facts))
    labelled |= label.label == "module: regression";
  EXPECT_TRUE(labelled);
}

/// A script that is wrong where it is run first, and right in each other Python, which has the results of the first.
TEST(Versions, AreAskedWithTheScriptAsItIs) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const std::string python = find_python_with_torch("");
  if (python.empty())
    GTEST_SKIP() << "no Python with torch";
  const TemporaryFolder folder;
  std::ofstream(folder / "repro.py") << "from pathlib import Path\nimport torch\n\nexpected = torch.ones(2)\n"
                                        "is_first = not Path(__file__).with_name('reference.pt').exists()\n"
                                        "found = expected + is_first\n"
                                        "torch.testing.assert_close(found, expected)\n";
  const ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  const auto rows = ask_versions(facts, folder.path(), python, {"/no/python", python, "/bin/true"}, {});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].outcome, Outcome::Wrong) << rows[0].message;
  EXPECT_FALSE(rows[0].torch.empty());
  EXPECT_EQ(rows[1].outcome, Outcome::NoAnswer);
  EXPECT_NE(rows[1].message, "");
  EXPECT_EQ(rows[2].outcome, Outcome::Right) << rows[2].message;
  EXPECT_EQ(rows[2].same_eager, true);
  EXPECT_EQ(rows[2].same_optimised, false);
  EXPECT_EQ(rows[3].outcome, Outcome::NoAnswer) << "any program may end with 0";
}

} // namespace
} // namespace repro_minify
