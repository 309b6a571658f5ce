// Tests of what a failure says of its own place. (How much that helps is in the checks that the cases take.)
#include "reduce/passes/suspects.h"

#include "program/program_from.h"

#include <gtest/gtest.h>

#include <set>

namespace repro_minify {
namespace {

/// Answers that the values in `wrong` are, and keeps what was asked.
class Doctor final : public PassServices {
public:
  explicit Doctor(Signature wanted) : wanted_(std::move(wanted)) {}

  const Signature &wanted() const override { return wanted_; }
  Verdict verdict_of(const Program &program) override {
    asked.push_back(canonical_hash(program));
    Verdict verdict;
    verdict.outcome = Verdict::Outcome::Fail;
    for (size_t i = 0; i < program.graph->outputs().size(); ++i) {
      LeafReport leaf;
      leaf.same = wrong.count(i) == 0;
      verdict.outputs.push_back(leaf);
    }
    return verdict;
  }
  std::shared_ptr<const Recording> record(const Program &) override { return nullptr; }
  int questions_at_once() const override { return 1; }
  void enter_phase(const std::string &) override {}

  std::set<size_t> wrong;
  std::vector<std::string> asked;

private:
  const Signature wanted_;
};

struct Patient {
  const Program program = testing_support::program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::sin(%a)
  %c : Tensor = aten::neg(%b)
  %d : Tensor = aten::cos(%c)
  return (%d))IR",
                                                        {at::ones({2, 3})});
  const Cutter cutter{std::make_shared<Recording>(record(program, {}, {.timeout = std::chrono::minutes(1)}))};
  IndexSet all = {0, 1, 2, 3};
};

/// suspects(), asked by a pass.
IndexSet suspects_of(const Patient &patient, Doctor &doctor) {
  const Verdict verdict;
  std::optional<double> chance;
  bool deferred = false;
  EngineContext context{
      {patient.program, nullptr, nullptr, nullptr}, doctor, verdict, nullptr, chance, deferred, false, false};
  return suspects(context, patient.cutter, patient.all);
}

TEST(Suspects, TheFirstWrongValueIsWhereTheFailureIs) {
  const Patient patient;
  Doctor doctor({FailureKind::Accuracy, "output", ""});
  std::vector<int> atoms; // that make what is returned
  patient.cutter.cut(patient.all, /*expose_all=*/true, atoms);
  for (size_t i = 0; i < atoms.size(); ++i)
    if (atoms[i] >= 2)
      doctor.wrong.insert(i);
  EXPECT_EQ(doctor.wrong.size(), 2u);
  EXPECT_EQ(suspects_of(patient, doctor), IndexSet{2});
}

/// A value that has no part in the failure that is looked for may be wrong too.
TEST(Suspects, ThatAreWrongForAnotherReasonAreNone) {
  Patient patient;
  patient.all = {1, 2, 3};
  Doctor doctor({FailureKind::Accuracy, "output", ""});
  doctor.wrong = {0, 1, 2, 3};
  EXPECT_EQ(suspects_of(patient, doctor), IndexSet{1});
}

TEST(Suspects, WhatTheyAskIsKnownBefore) {
  const Patient patient;
  Doctor doctor({FailureKind::Accuracy, "output", ""});
  doctor.wrong = {0}; // else they ask for what was rewritten, too
  suspects_of(patient, doctor);
  ASSERT_EQ(doctor.asked.size(), 1u);
  const auto known = asked_by_suspects(doctor.wanted(), patient.cutter);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(canonical_hash(known.front()()), doctor.asked.front());
}

TEST(Suspects, AnExceptionCostsNoQuestion) {
  const Patient patient;
  Doctor doctor({FailureKind::Exception, "", "aten::cos: not implemented"});
  EXPECT_EQ(suspects_of(patient, doctor), IndexSet{}); // "cos" is too short a word to name anything
  EXPECT_TRUE(doctor.asked.empty());
  EXPECT_TRUE(asked_by_suspects(doctor.wanted(), patient.cutter).empty());
}

} // namespace
} // namespace repro_minify
