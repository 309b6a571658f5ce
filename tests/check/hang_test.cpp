// A hang is what takes long beside eager's own time.
#include "check/test_backend.h"
#include "program/fixture.h"
#include "repro_minify/check.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <thread>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

/// A backend that takes that long for a call.
std::shared_ptr<const Backend> slow(std::chrono::milliseconds time) {
  return testing_support::backend_that(
      [time](torch::jit::Module module) -> Compiled {
        return [module, time](std::vector<c10::IValue> arguments) mutable {
          std::this_thread::sleep_for(time);
          return module.forward(std::move(arguments));
        };
      },
      {.needs_several_calls = false});
}

ModuleFactory slow_to_load(std::chrono::milliseconds time) {
  return [time](const InstantiateOptions &) {
    std::this_thread::sleep_for(time);
    torch::jit::Module module("__torch__.Small");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.define("def forward(self, x: Tensor):\n  return x + 1\n");
    return Instance{module, {at::ones({2})}};
  };
}

Verdict checked(std::chrono::milliseconds eager, std::chrono::milliseconds optimised, Patience patience) {
  CheckOptions options;
  options.patience = patience;
  return check(slow_to_load(eager), slow(optimised), options, testing_support::test_limits());
}

TEST(Hang, IsWhatTakesLongBesideEager) {
  const Verdict verdict = checked(0ms, 1h, {.least_seconds = 0.5, .times_eager = 2});
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail);
  EXPECT_EQ(verdict.signatures.front().kind, FailureKind::Hang);
  EXPECT_NE(verdict.message.find("eager took"), std::string::npos) << verdict.message;
  EXPECT_GT(verdict.eager_seconds, 0);
  EXPECT_EQ(verdict_from_json(to_json(verdict)).eager_seconds, verdict.eager_seconds);
}

TEST(Hang, IsNotWhatEagerTakesAWhileForToo) {
  // A hundred times what eager takes, which is more than 200 ms: no hang, although it is far over the least.
  const Verdict verdict = checked(200ms, 1s, {.least_seconds = 0.1, .times_eager = 100});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
}

TEST(Hang, HasNoLimitOfItsOwnUnlessToldTo) {
  EXPECT_EQ(checked(0ms, 1s, {}).outcome, Verdict::Outcome::Pass);
}

} // namespace
} // namespace repro_minify
