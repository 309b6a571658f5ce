// Tests of the settings of a run: seeds, autocast, determinism, devices.
#include "check/cuda_device.h"
#include "check/test_backend.h"
#include "check/unresolved.h"
#include "program/compute.h"
#include "program/fixture.h"
#include "repro_minify/check.h"
#include "repro_minify/run_settings.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace repro_minify {
namespace {

using testing_support::backend_that;

Verdict run_in_check(const ModuleFactory &factory, const CheckOptions &options, bool boxed = false) {
  const auto interprets = [](torch::jit::Module module) -> Compiled {
    if (at::autocast::is_autocast_enabled(at::kCPU))
      throw std::runtime_error("compiled under autocast");
    return [module](std::vector<c10::IValue> arguments) mutable { return module.forward(std::move(arguments)); };
  };
  return check(factory, backend_that(interprets, {.boxed_call = boxed, .runs_the_module = true}), options,
               testing_support::test_limits());
}

ModuleFactory defined(const std::string &forward) {
  return [=](const InstantiateOptions &options) {
    torch::jit::Module module("__torch__.Defined");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_parameter("w", at::ones({4, 4}, at::TensorOptions(options.device)), false);
    module.define(forward);
    return Instance{module, {at::ones({4, 4}, at::TensorOptions(options.device))}};
  };
}

TEST(Settings, GeneratorsAreSeededBeforeEachRunOfEitherSide) {
  const Verdict verdict = run_in_check(defined("def forward(self, x: Tensor) -> Tensor:\n"
                                               "  return torch.dropout(x, 0.5, True) + torch.rand_like(x)\n"),
                                       {});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_FALSE(verdict.stateful);
}

TEST(Settings, BothSidesRunUnderAutocastAndNeitherCompilesUnderIt) {
  CheckOptions options;
  options.autocast = true;
  const ModuleFactory factory = defined("def forward(self, x: Tensor) -> Tensor:\n  return torch.mm(x, self.w)\n");
  Verdict verdict = run_in_check(factory, options);
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_EQ(verdict.outputs.at(0).ref_type, "bfloat16[4, 4]");
  options.autocast_dtype = at::kHalf;
  verdict = run_in_check(factory, options);
  EXPECT_EQ(verdict.outputs.at(0).ref_type, "float16[4, 4]");
  options.autocast = false;
  verdict = run_in_check(factory, options);
  EXPECT_EQ(verdict.outputs.at(0).ref_type, "float32[4, 4]");
}

TEST(Settings, DeterministicOnMakesAnOperatorWithoutSuchAVariantRaise) {
  const ModuleFactory factory = defined("def forward(self, x: Tensor) -> Tensor:\n"
                                        "  return x.put_(torch.zeros([2], dtype=4), torch.ones([2]), False)\n");
  CheckOptions options;
  EXPECT_EQ(run_in_check(factory, options).outcome, Verdict::Outcome::Pass);
  options.determinism = Determinism::On;
  const Verdict verdict = run_in_check(factory, options);
  EXPECT_TRUE(verdict.eager_raises);
  EXPECT_NE(verdict.message.find("deterministic"), std::string::npos) << verdict.message;
}

/// They are flags of LibTorch, which are there without a device.
std::string flags_on_a_device(bool tf32, Determinism determinism) {
  const auto work = [&](Child &child) {
    at::globalContext().setBenchmarkCuDNN(true); // a model or an earlier check may have
    unsetenv("CUBLAS_WORKSPACE_CONFIG");
    RunSettings settings;
    settings.device = c10::Device(c10::kCUDA);
    settings.tf32 = tf32;
    settings.determinism = determinism;
    const RunScope scope(settings);
    const auto &context = at::globalContext();
    const char *workspace = std::getenv("CUBLAS_WORKSPACE_CONFIG");
    child.reply(std::string(context.allowTF32CuBLAS() ? "tf32 " : "") + (context.allowTF32CuDNN() ? "tf32 " : "") +
                (context.deterministicCuDNN() ? "deterministic " : "") +
                (context.benchmarkCuDNN() ? "benchmark " : "") + (workspace ? workspace : "none"));
  };
  return run_in_sandbox(work, testing_support::test_limits()).reply;
}

TEST(Settings, OfADeviceAreSetBeforeEachRun) {
  EXPECT_EQ(flags_on_a_device(false, Determinism::Warn), "deterministic :4096:8");
  EXPECT_EQ(flags_on_a_device(true, Determinism::On), "tf32 tf32 deterministic :4096:8");
  EXPECT_EQ(flags_on_a_device(false, Determinism::Off), "none");
}

TEST(Settings, UninitialisedMemoryIsLeftAlone) {
  const RunScope scope({});
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_FALSE(at::globalContext().deterministicFillUninitializedMemory());
}

TEST(Settings, OnlyForwardDoesNotLookAtWhatIsLeftBehind) {
  // Adds to its argument twice as much when it is optimised: only the first call of each side is compared.
  const ModuleFactory factory =
      defined("def forward(self, x: Tensor) -> Tensor:\n  y = x * 2\n  x.add_(1)\n  return y\n");
  CheckOptions options;
  EXPECT_FALSE(run_in_check(factory, options).state.empty());
  options.only_forward = true;
  EXPECT_TRUE(run_in_check(factory, options).state.empty());
}

TEST(Settings, ABoxedBackendOwnsItsArguments) {
  const Verdict verdict = run_in_check(defined("def forward(self, x: Tensor) -> Tensor:\n  return x + 1\n"), {}, true);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
}

TEST(Settings, RequireFp64IsUnresolvedWithoutAReference) {
  const ModuleFactory factory = defined("def forward(self, x: Tensor) -> Tensor:\n  return x + 1\n");
  const ModuleFactory widening = [=](const InstantiateOptions &options) {
    if (options.double_precision)
      throw std::runtime_error("no kernel for float64");
    return factory(options);
  };
  CheckOptions options;
  options.measure_always = true;
  Verdict verdict = run_in_check(widening, options);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_FALSE(verdict.has_fp64_reference);
  EXPECT_NE(verdict.no_fp64_because, "");
  options.require_fp64 = true;
  verdict = run_in_check(widening, options);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
  EXPECT_NE(verdict.message.find("--require-fp64"), std::string::npos) << verdict.message;
}

TEST(Settings, RunModeComparesNothing) {
  CheckOptions options;
  options.mode = CheckMode::Run;
  // The result differs from call to call, but is not compared.
  const ModuleFactory factory = defined("def forward(self, x: Tensor) -> Tensor:\n  return self.w.add_(1) + x\n");
  const Verdict verdict = run_in_check(factory, options);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_TRUE(verdict.outputs.empty());
}

TEST(Settings, EverythingAVerdictDependsOnIsInItsIdentity) {
  const CheckOptions plain;
  std::vector<CheckOptions> others(10, plain);
  others[0].seed = 1;
  others[1].grad = true;
  others[2].autocast = true;
  others[3].determinism = Determinism::On;
  others[4].compare.tol = 1;
  others[5].calls = 1;
  others[6].mode = CheckMode::Run;
  others[7].device = c10::Device(c10::kCUDA, 1);
  others[8].threads = 2;
  others[9].compare.tol = std::nextafter(plain.compare.tol, 1);
  for (const auto &other : others)
    EXPECT_NE(identity_of(other), identity_of(plain));
  EXPECT_EQ(identity_of(CheckOptions{}), identity_of(plain));
}

/// Eager answers differently on its eleventh call, whatever the seed; the backend is always wrong.
TEST(Settings, AFailureIsDoubtedWhereEagerMayBeRandom) {
  const ModuleFactory factory = [](const InstantiateOptions &) {
    static int instances = 0;
    torch::jit::Module module("__torch__.Late");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_buffer("b", at::full({2}, ++instances > 4 ? 1.0 : 0.0));
    module.define("def forward(self, x: Tensor) -> Tensor:\n  return self.b + x\n");
    return Instance{module, {at::ones({2})}};
  };
  const auto wrong = backend_that([](const torch::jit::Module &) -> Compiled {
    return [](std::vector<c10::IValue>) -> c10::IValue { return at::full({2}, 7.0); };
  });
  CheckOptions options;
  EXPECT_EQ(check(factory, wrong, options, testing_support::test_limits()).outcome, Verdict::Outcome::Fail);
  options.eager_calls = 32;
  const Verdict verdict = check(factory, wrong, options, testing_support::test_limits());
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
  EXPECT_TRUE(verdict.eager_failed);
}

int failing_calls = 0;

Verdict every_third() {
  Verdict verdict;
  verdict.outcome = ++failing_calls % 3 == 0 ? Verdict::Outcome::Fail : Verdict::Outcome::Pass;
  if (verdict.outcome == Verdict::Outcome::Fail)
    verdict.signatures = {{FailureKind::Accuracy, "output", ""}};
  return verdict;
}

int runs_needed(Repetition repetition, Verdict::Outcome expected) {
  failing_calls = 0;
  const Verdict verdict = check_repeatedly(
      every_third, [](const Verdict &v) { return v.outcome == Verdict::Outcome::Fail; }, repetition);
  EXPECT_EQ(verdict.outcome, expected);
  return failing_calls;
}

TEST(Repetition, EndsAsSoonAsItIsDecided) {
  EXPECT_EQ(runs_needed({.runs = 1, .need = 1}, Verdict::Outcome::Pass), 1);
  EXPECT_EQ(runs_needed({.runs = 9, .need = 1}, Verdict::Outcome::Fail), 3);
  EXPECT_EQ(runs_needed({.runs = 9, .need = 3}, Verdict::Outcome::Fail), 9);
  EXPECT_EQ(runs_needed({.runs = 9, .need = 4}, Verdict::Outcome::Pass), 8); // six others: four can no longer come
  EXPECT_EQ(runs_needed({.runs = 3, .need = 3}, Verdict::Outcome::Pass), 1);
}

TEST(Repetition, OneUnresolvedRunDecides) {
  int calls = 0;
  check_repeatedly(
      [&] {
        ++calls;
        return Verdict{};
      },
      [](const Verdict &) { return false; }, {.runs = 9, .need = 1});
  EXPECT_EQ(calls, 1);
}

TEST(DeviceErrors, ACpuIsNeverLost) {
  EXPECT_FALSE(device_is_lost("CUDA error: device-side assert triggered", c10::kCPU));
}

TEST(Cuda, ACheckRunsThereAndComparesWithFp64) {
  if (const auto why = testing_support::no_cuda(); !why.empty())
    GTEST_SKIP() << why;
  CheckOptions options;
  options.device = c10::Device(c10::kCUDA, 0);
  options.autocast = true;
  options.autocast_dtype = at::kHalf;
  const Verdict verdict =
      run_in_check(defined("def forward(self, x: Tensor) -> Tensor:\n  return torch.mm(x, self.w)\n"), options);
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_TRUE(verdict.has_fp64_reference) << verdict.no_fp64_because;
  EXPECT_NE(verdict.outputs.at(0).ref_type.find("float16"), std::string::npos) << verdict.outputs.at(0).ref_type;
}

TEST(Cuda, ADeviceSideAssertionIsACrash) {
  if (const auto why = testing_support::no_cuda(); !why.empty())
    GTEST_SKIP() << why;
  CheckOptions options;
  options.device = c10::Device(c10::kCUDA, 0);
  const auto asserts = backend_that([](const torch::jit::Module &) -> Compiled {
    return [](std::vector<c10::IValue> arguments) -> c10::IValue {
      const at::Tensor x = arguments[0].toTensor();
      return x.index_select(0, at::full({1}, 1 << 20, x.options().dtype(at::kLong)));
    };
  });
  const Verdict verdict = check(defined("def forward(self, x: Tensor) -> Tensor:\n  return x\n"), asserts, options,
                                testing_support::test_limits());
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail) << verdict.message;
  EXPECT_EQ(verdict.signatures.front().kind, FailureKind::Crash) << verdict.message;
}

TEST(Cuda, IsRefusedInOneSentenceWhereThereIsNone) {
  const auto why = testing_support::no_cuda();
  if (why.empty())
    GTEST_SKIP() << "there is a CUDA device here";
  EXPECT_NE(why.find("CUDA"), std::string::npos) << why;
}

} // namespace
} // namespace repro_minify
