// Tests that a test that saves and loads the Program sees what saving changes.
#include "check/test_backend.h"
#include "reduce/passes/golden.h"
#include "reduce/reduce_recorded.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

/// Refuses programs with a negation, read or not.
Compiled refuse_negation(torch::jit::Module module) {
  for (const auto *node : module.get_method("forward").graph()->nodes())
    if (node->kind() == c10::aten::neg)
      throw std::runtime_error("no negation");
  return [module](std::vector<c10::IValue> arguments) mutable { return module.forward(std::move(arguments)); };
}

Verdict::Outcome ask(const InterestingnessTest &test, const Program &program) {
  const Job job = test.job(std::make_shared<Program>(program));
  return test.verdict_of(run_in_sandbox(job, {.timeout = std::chrono::minutes(1)})).outcome;
}

Program program_returning(const char *value) {
  return program_from(std::string(R"IR(
graph(%x : Tensor):
  %n : Tensor = aten::neg(%x)
  %r : Tensor = aten::relu(%x)
  return ()IR") + value + ")",
                      {at::ones({3})});
}

TEST(ReloadingTest, SeesTheProgramAsItsFileHasIt) {
  const auto backend = backend_that(refuse_negation);
  const auto in_memory = interestingness_test(backend, {}), reloaded = reloading_test(backend, {});
  EXPECT_EQ(ask(in_memory, program_returning("%r")), Verdict::Outcome::Fail);
  EXPECT_EQ(ask(reloaded, program_returning("%r")), Verdict::Outcome::Pass) << "the loader drops what nobody reads";
  EXPECT_EQ(ask(in_memory, program_returning("%n")), Verdict::Outcome::Fail);
  EXPECT_EQ(ask(reloaded, program_returning("%n")), Verdict::Outcome::Fail);
  EXPECT_NE(in_memory.identity(), reloaded.identity());
}

} // namespace
} // namespace repro_minify
