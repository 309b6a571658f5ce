// Tests of the ablation of a program that no backend gets wrong; tests/end_to_end has programs that fail.
#include "repro/small_program.h"
#include "repro/triage.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using testing_support::facts_of;
using testing_support::small_program;

Limits limits() {
  return {.timeout = std::chrono::minutes(1)};
}

ReproFacts facts() {
  ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  facts.reduced.outcome = Verdict::Outcome::Fail;
  facts.reduced.signatures = {facts.signature};
  return facts;
}

TEST(Ablation, HasARowForEachBackendOfTorchScript) {
  const ModuleFactory factory = factory_of(std::make_shared<Program>(small_program()));
  ReproFacts known = facts();
  known.ablation = ablate(factory, known, limits());
  ASSERT_EQ(known.ablation.front().what, "jit, without gradients");
  EXPECT_EQ(known.ablation.front().result, "fails in the same way") << "it is not asked again";
  EXPECT_EQ(fails_under(known, "jit, with gradients"), std::optional(false));
  for (const char *name : {"freeze", "nnc", "optimize-for-inference"})
    EXPECT_EQ(fails_under(known, name), std::optional(false)) << name;
  EXPECT_FALSE(has_row(known, "jit"));
  EXPECT_FALSE(has_row(known, ablation_names::inductor));
}

TEST(Ablation, EndsWhenInterrupted) {
  Limits interrupted = limits();
  interrupted.interrupted = [] { return true; };
  const ModuleFactory factory = factory_of(std::make_shared<Program>(small_program()));
  EXPECT_EQ(ablate(factory, facts(), interrupted).size(), 1) << "what was known before";
  EXPECT_TRUE(ablate_inductor(factory, facts(), interrupted, {}).empty());
}

TEST(Ablation, SaysWhyInductorIsNotAsked) {
  const ModuleFactory factory = factory_of(std::make_shared<Program>(small_program()));
  BackendOptions options;
  options.python = "/bin/false";
  ReproFacts known = facts();
  known.ablation = ablate_inductor(factory, known, limits(), options);
  ASSERT_EQ(known.ablation.size(), 1);
  EXPECT_EQ(known.ablation.front().result, "not asked: --python /bin/false: not a Python with torch");
  EXPECT_EQ(fails_under(known, ablation_names::inductor), std::nullopt);
  known.not_reduced = "it cannot be flattened";
  EXPECT_EQ(ablate_inductor(factory, known, limits(), options).front().result,
            "not asked: it is given flat programs only");
}

} // namespace
} // namespace repro_minify
