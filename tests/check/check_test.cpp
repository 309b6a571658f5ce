// A Check survives whatever a backend does, and says what it was.
#include "check/test_backend.h"
#include "program/fixture.h"
#include "program/module_edits.h"
#include "repro_minify/check.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

namespace repro_minify {
namespace {

using testing_support::backend_that;

using Behaviour = std::function<c10::IValue(torch::jit::Module &, std::vector<c10::IValue>)>;

/// A backend that runs the program eagerly after, or instead of, doing something of the test's choice.
std::shared_ptr<const Backend> backend_with(const Behaviour &behaviour) {
  return backend_that(
      [behaviour](torch::jit::Module module) -> Compiled {
        return [module, behaviour](std::vector<c10::IValue> arguments) mutable {
          return behaviour(module, std::move(arguments));
        };
      },
      {.runs_the_module = true});
}

Program small_program() {
  const auto loaded = testing_support::load_case("jit_einsum_view_alias");
  return flatten_calls(loaded.model, loaded.inputs.values);
}

Verdict check_with(const Behaviour &behaviour, Limits limits = {.timeout = std::chrono::seconds(20)}) {
  static const auto program = std::make_shared<Program>(small_program());
  return check(factory_of(program), backend_with(behaviour), {}, limits);
}

c10::IValue run_right(torch::jit::Module &module, std::vector<c10::IValue> arguments) {
  return module.forward(std::move(arguments));
}

void expect_failure(const Verdict &verdict, FailureKind kind) {
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail) << verdict.message;
  EXPECT_STREQ(to_string(verdict.signatures.front().kind), to_string(kind)) << verdict.message;
}

/// The two sides of a program that returns what no rule can compare even with itself.
TEST(Check, SaysThatAResultWithoutValuesCannotBeCompared) {
  const ModuleFactory factory = [](const InstantiateOptions &) {
    torch::jit::Module module("m");
    module.define("def forward(self, x: Tensor):\n  return torch.zeros_like(x, device='meta')\n");
    return Instance{module, {at::ones({2})}};
  };
  for (const CompareRule rule : {CompareRule::Default, CompareRule::Strict, CompareRule::Exact}) {
    CheckOptions options;
    options.compare.rule = rule;
    const Verdict verdict = check(factory, backend_with(run_right), options, {.timeout = std::chrono::seconds(20)});
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
    EXPECT_FALSE(verdict.eager_failed);
    EXPECT_NE(verdict.message.find("cannot be compared with itself: "), std::string::npos) << verdict.message;
    EXPECT_NE(verdict.message.find("meta"), std::string::npos) << verdict.message;
  }
}

/// With numbers of its own it would be far from eager, and let a wrong result pass.
TEST(Check, TheReferenceDrawsWhatEagerDraws) {
  const ModuleFactory factory = [](const InstantiateOptions &options) {
    torch::jit::Module module("m");
    module.define("def forward(self, x: Tensor):\n  p = torch.sigmoid(x)\n  return [torch.rand_like(x), "
                  "torch.randn_like(x), torch.rand([40]), torch.normal(x, 1.0), torch.bernoulli(p), torch.dropout(x, "
                  "0.5, True), torch.empty_like(x).uniform_(), torch.empty_like(x).exponential_(1.0), "
                  "torch.empty_like(x).bernoulli_(torch.sigmoid(x)), p.normal_()]\n");
    const at::Tensor x = at::linspace(-1, 1, 40);
    if (!options.double_precision)
      return Instance{module, {x}};
    widen_module(module, true);
    return Instance{module, {x.to(at::kDouble)}};
  };
  CheckOptions options;
  options.measure_always = true;
  const Verdict verdict = check(factory, backend_with(run_right), options, {.timeout = std::chrono::seconds(20)});
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  ASSERT_EQ(verdict.outputs.size(), 10U) << verdict.no_fp64_because;
  for (const LeafReport &leaf : verdict.outputs)
    EXPECT_LT(leaf.ref_error, 1e-6) << &leaf - verdict.outputs.data();
}

TEST(Check, PassesWhatIsRight) {
  EXPECT_EQ(check_with(run_right).outcome, Verdict::Outcome::Pass);
}

TEST(Check, SeesASegmentationFault) {
  const Verdict verdict = check_with([](auto &, auto) -> c10::IValue {
    std::raise(SIGSEGV);
    return {};
  });
  expect_failure(verdict, FailureKind::Crash);
  EXPECT_EQ(verdict.signatures.front().detail.rfind("signal 11", 0), 0u);
}

TEST(Check, SeesAnAbort) {
  const Verdict verdict = check_with([](auto &, auto) -> c10::IValue { std::abort(); });
  expect_failure(verdict, FailureKind::Crash);
  EXPECT_EQ(verdict.signatures.front().detail.rfind("signal 6", 0), 0u);
}

int deeper(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? frame[0] : deeper(depth + 1) + frame[0];
}

TEST(Check, SeesAStackOverflow) {
  expect_failure(check_with([](auto &, auto) -> c10::IValue { return deeper(0); }), FailureKind::Crash);
}

TEST(Check, SeesAHang) {
  expect_failure(check_with(
                     [](auto &, auto) -> c10::IValue {
                       for (;;)
                         pause();
                     },
                     {.timeout = std::chrono::seconds(2)}),
                 FailureKind::Hang);
}

TEST(Check, SeesExhaustedMemory) {
  const auto greedy = [](auto &, auto) -> c10::IValue {
    std::vector<std::vector<char>> hoard;
    for (;;)
      hoard.emplace_back(std::size_t{64} << 20, 'x');
  };
  expect_failure(check_with(greedy, {.timeout = std::chrono::seconds(60), .memory_bytes = std::uint64_t{512} << 20}),
                 FailureKind::Memory);
}

TEST(Check, SeesExhaustedMemoryInATensor) {
  const auto greedy = [](auto &, auto) -> c10::IValue { return at::empty({int64_t{1} << 34}); };
  expect_failure(check_with(greedy, {.timeout = std::chrono::seconds(60), .memory_bytes = std::uint64_t{512} << 20}),
                 FailureKind::Memory);
}

TEST(Check, SeesAStandardException) {
  const Verdict verdict =
      check_with([](auto &, auto) -> c10::IValue { throw std::runtime_error("bad shape [3, 4] at 0x7f00"); });
  expect_failure(verdict, FailureKind::Exception);
  EXPECT_EQ(verdict.signatures.front().detail, "bad shape [#] at @");
}

TEST(Check, SeesAnExceptionOfAnyType) {
  expect_failure(check_with([](auto &, auto) -> c10::IValue { throw 42; }), FailureKind::Exception);
}

TEST(Check, SurvivesClosedFileDescriptors) {
  const Verdict verdict = check_with([](auto &module, auto arguments) {
    for (int descriptor = 0; descriptor < 1024; ++descriptor)
      close(descriptor);
    return run_right(module, std::move(arguments));
  });
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
}

TEST(Check, IsUnresolvedWhenKilledFromOutside) {
  const Verdict verdict = check_with([](auto &, auto) -> c10::IValue {
    kill(getpid(), SIGKILL);
    return {};
  });
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
}

TEST(Check, SeesAnExit) {
  expect_failure(check_with([](auto &, auto) -> c10::IValue { _exit(0); }), FailureKind::Crash);
}

TEST(Check, SeesWrongValuesFromALaterCallOnly) {
  int calls = 0;
  const Verdict verdict = check_with([calls](auto &module, auto arguments) mutable -> c10::IValue {
    c10::IValue result = run_right(module, std::move(arguments));
    return ++calls < 3 ? result : c10::IValue(result.toTensor() + 1);
  });
  expect_failure(verdict, FailureKind::Accuracy);
  EXPECT_EQ(verdict.failing_call, 3);
}

TEST(Check, NamesNanShapeDtypeAndStructure) {
  const auto with = [](std::function<c10::IValue(at::Tensor)> change) {
    return check_with(
        [change](auto &module, auto arguments) { return change(run_right(module, std::move(arguments)).toTensor()); });
  };
  expect_failure(with([](at::Tensor t) -> c10::IValue { return t.index_fill(0, at::zeros({1}, at::kLong), NAN); }),
                 FailureKind::Nan);
  expect_failure(with([](at::Tensor t) -> c10::IValue { return t.unsqueeze(0); }), FailureKind::Shape);
  expect_failure(with([](at::Tensor t) -> c10::IValue { return t.to(at::kDouble); }), FailureKind::Dtype);
  expect_failure(with([](at::Tensor) -> c10::IValue { return {}; }), FailureKind::Structure);
}

TEST(Check, IsUnresolvedWhenEagerItselfRaises) {
  Program broken = small_program();
  broken.inputs[0].value = at::zeros({3});
  const Verdict verdict = check(factory_of(std::make_shared<Program>(broken)), backend_with(run_right), {},
                                {.timeout = std::chrono::seconds(20)});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
  EXPECT_NE(verdict.message.find("eager itself raises"), std::string::npos) << verdict.message;
}

/// forward adds one to a buffer and returns it.
ModuleFactory counting_subject() {
  return [](const InstantiateOptions &) {
    torch::jit::Module module("__torch__.Counts");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_buffer("count", at::zeros({2}));
    module.define("def forward(self, x: Tensor) -> Tensor:\n  return self.count.add_(1) + x\n");
    return Instance{module, {at::ones({2})}};
  };
}

TEST(Check, AProgramThatKeepsStateIsComparedCallByCall) {
  const Limits limits{.timeout = std::chrono::seconds(20)};
  const Verdict right = check(counting_subject(), backend_with(run_right), {}, limits);
  EXPECT_EQ(right.outcome, Verdict::Outcome::Pass) << right.message;
  EXPECT_TRUE(right.stateful);
  // One that forgets the state is wrong from its second call on.
  const auto forgets = [](torch::jit::Module &module, std::vector<c10::IValue> arguments) -> c10::IValue {
    module.attr("count").toTensor().zero_();
    return module.forward(std::move(arguments));
  };
  const Verdict wrong = check(counting_subject(), backend_with(forgets), {}, limits);
  expect_failure(wrong, FailureKind::Accuracy);
  EXPECT_EQ(wrong.failing_call, 2);
}

TEST(Check, IsUnresolvedWhenEagerIsNotReproducible) {
  const ModuleFactory random = [](const InstantiateOptions &) {
    static int instances = 0;
    torch::jit::Module module("__torch__.Random");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_buffer("count", at::full({2}, ++instances));
    module.define("def forward(self, x: Tensor) -> Tensor:\n  return self.count.add_(1) + x\n");
    return Instance{module, {at::ones({2})}};
  };
  const Verdict verdict = check(random, backend_with(run_right), {}, {.timeout = std::chrono::seconds(20)});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
  EXPECT_TRUE(verdict.eager_failed);
}

TEST(Check, VerdictsTravelAsJson) {
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Fail;
  verdict.signatures = {{FailureKind::Nan, "gradient", ""}, {FailureKind::Exception, "", "a \"quoted\" message\n\xff"}};
  verdict.message = "evil \x01 text";
  verdict.eager_raises = verdict.eager_failed = verdict.stateful = true;
  verdict.no_fp64_because = "no kernel";
  verdict.rewritten = {"aten::zeros", "\xff"};
  verdict.outputs.resize(1);
  verdict.outputs[0].max_abs_error = INFINITY;
  verdict.outputs[0].argument = 2;
  verdict.outputs[0].ref_form = TensorForm{at::kFloat8_e5m2, {2, 3}, {3, 1}, "cuda:0"};
  const Verdict back = verdict_from_json(to_json(verdict));
  EXPECT_EQ(back.outcome, verdict.outcome);
  EXPECT_EQ(back.signatures[0], verdict.signatures[0]);
  EXPECT_TRUE(back.eager_raises && back.eager_failed && back.stateful);
  EXPECT_EQ(back.no_fp64_because, "no kernel");
  ASSERT_EQ(back.rewritten.size(), 2u);
  EXPECT_EQ(back.rewritten[0], "aten::zeros");
  EXPECT_EQ(back.signatures[1].kind, FailureKind::Exception);
  EXPECT_EQ(back.outputs[0].max_abs_error, INFINITY);
  EXPECT_TRUE(std::isnan(back.outputs[0].ref_error));
  EXPECT_EQ(back.outputs[0].argument, 2);
  EXPECT_EQ(back.outputs[0].ref_form, verdict.outputs[0].ref_form);
  EXPECT_EQ(back.outputs[0].res_form, std::nullopt);
}

} // namespace
} // namespace repro_minify
