// Eager runs once for all checks of a program, and no check answers otherwise for it.
#include "check/kept_runs.h"

#include "program/fixture.h"
#include "program/values.h"
#include "repro_minify/sandbox.h"
#include "tasks/jobs.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

using nlohmann::json;
using sandbox_test::SharedNumber;

/// With a parameter and a buffer; `made` counts instances.
ModuleFactory program_of(const std::string &forward, const SharedNumber &made) {
  return [forward, counter = &*made](const InstantiateOptions &options) {
    ++*counter;
    SharedCloner cloner({.double_precision = options.double_precision});
    torch::jit::Module module("__torch__.Memo");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_parameter("weight", cloner.clone(at::arange(4, at::kFloat) / 3), false);
    module.register_buffer("count", cloner.clone(at::zeros({4})));
    module.define("def forward(self, x: Tensor):\n  " + forward + "\n");
    return Instance{module, {cloner.clone(at::ones({4}))}};
  };
}

struct Asked {
  Verdict verdict;
  int instances = 0;
};

/// One after the other, with the memo or without.
std::vector<Asked> checks(const std::string &forward, const std::vector<std::string> &backends, EagerMemo *memo,
                          const CheckOptions &options = {}) {
  const SharedNumber made;
  const ModuleFactory factory = program_of(forward, made);
  std::vector<Asked> all;
  for (const std::string &name : backends) {
    const std::shared_ptr<const Backend> backend = make_backend(name);
    *made = 0;
    const std::string kept = memo ? memo->file_for("as given", *backend, options) : "";
    const Job job = check_job(factory, backend, options, kept);
    all.push_back({verdict_of(run_in_sandbox(job, testing_support::test_limits())), *made});
  }
  return all;
}

/// But for the times.
json content_of(const Verdict &verdict) {
  json content = json::parse(to_json(verdict));
  content.erase("wall_seconds");
  return content;
}

const std::vector<std::string> backends{"jit",   "freeze",  "optimize-for-inference", "static-runtime",
                                        "eager", "autocast"};

TEST(EagerMemo, EagerRunsOnceForAllThatRunTheSame) {
  CheckOptions options;
  options.measure_always = true;
  EagerMemo memo;
  const auto asked = checks("return torch.softmax(x * self.weight, 0)", backends, &memo, options);
  std::vector<int> instances;
  for (const Asked &one : asked)
    instances.push_back(one.instances);
  // Eager, float64, optimised; then optimised alone, but for autocast, under which eager is another.
  EXPECT_EQ(instances, (std::vector<int>{3, 1, 1, 1, 1, 3}));
}

class EveryVerdictIsTheSame : public testing::TestWithParam<const char *> {};

TEST_P(EveryVerdictIsTheSame, WithTheMemoAndWithout) {
  for (const bool measure : {false, true})
    for (const bool backwards : {false, true}) {
      auto order = backends;
      if (backwards)
        std::reverse(order.begin(), order.end());
      CheckOptions options;
      options.measure_always = measure;
      EagerMemo memo;
      const auto with = checks(GetParam(), order, &memo, options),
                 without = checks(GetParam(), order, nullptr, options);
      for (std::size_t i = 0; i < order.size(); ++i)
        EXPECT_EQ(content_of(with[i].verdict), content_of(without[i].verdict)) << order[i];
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryVerdictIsTheSame,
                         testing::Values("return x * self.weight",                       //
                                         "return x * float('nan')",                      //
                                         "self.count.add_(1)\n  return x * self.weight", // state, no results
                                         "self.count.add_(1)\n  return x + self.count",  // both
                                         "x.add_(1)\n  return x",                        // an argument
                                         "self.weight.data.mul_(2)\n  return x",         //
                                         "return (x, [x + 1, self.weight], {'a': x}, 3, None, 's')", //
                                         "return torch.rand_like(x)",                                // seeded
                                         "return x.to(torch.float64) / 3",                           //
                                         "assert False\n  return x",                                 //
                                         "return x.type_as(self.count) / (self.weight + 0.1)"));

TEST(EagerMemo, WithGradientsToo) {
  CheckOptions options;
  options.grad = true;
  EagerMemo memo;
  const std::string program = "return torch.tanh(x * self.weight)";
  const auto with = checks(program, backends, &memo, options), without = checks(program, backends, nullptr, options);
  for (std::size_t i = 0; i < backends.size(); ++i)
    EXPECT_EQ(content_of(with[i].verdict), content_of(without[i].verdict)) << backends[i];
}

TEST(EagerMemo, AFileThatIsNotOneOfOursIsAsGoodAsNone) {
  EagerMemo memo;
  const std::string file = memo.file_for("as given", *make_backend("jit"), {});
  for (const std::string &bytes : {std::string(), std::string("\x80\x02}."), std::string(100, '\xff')}) {
    std::ofstream(file, std::ios::binary) << bytes;
    const auto asked = checks("return x * self.weight", {"jit"}, &memo);
    EXPECT_EQ(asked.front().verdict.outcome, Verdict::Outcome::Pass) << asked.front().verdict.message;
    EXPECT_EQ(asked.front().instances, 2);
  }
}

TEST(EagerMemo, GoesWithItsObject) {
  std::filesystem::path folder;
  {
    EagerMemo memo;
    folder = std::filesystem::path(memo.file_for("as given", *make_backend("jit"), {})).parent_path();
    EXPECT_TRUE(std::filesystem::is_directory(folder));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(KeptRuns, ComeBackAsTheyWere) {
  const std::string file = private_folder_of_children() / "kept_runs_test";
  Observed call;
  c10::impl::GenericDict dict(c10::StringType::get(), c10::TensorType::get());
  dict.insert("a", at::full({2}, NAN));
  call.output = c10::ivalue::Tuple::create({at::arange(6).view({2, 3}).t(), dict});
  call.gradient_names = {"weight"};
  call.gradient_arguments = {-1};
  call.gradients = {at::full({3}, 0.1, at::kHalf)};
  call.state_names = {"buffer a", "input 0 after the run"};
  call.state = {at::empty({0}), c10::IValue()};
  call.buffers = 1;
  call.unchanged = {"", "float32[2]"};
  call.has_way_back = true;
  call.left_out = 2;
  call.operators = {{"aten::add", 3}, {"aten::mul", 1}};
  keep_runs(file, {{call}, 1.5, "why"});
  const auto runs = load_runs(file);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->seconds, 1.5);
  EXPECT_EQ(runs->problem, "why");
  const Observed &again = runs->calls.at(0);
  EXPECT_EQ(*again.output.type(), *call.output.type());
  const auto parts = again.output.toTupleRef().elements();
  EXPECT_TRUE(parts[0].toTensor().equal(at::arange(6).view({2, 3}).t()));
  EXPECT_TRUE(parts[1].toGenericDict().at("a").toTensor().isnan().all().item<bool>());
  EXPECT_EQ(again.gradient_names, call.gradient_names);
  EXPECT_EQ(again.gradient_arguments, call.gradient_arguments);
  EXPECT_EQ(again.gradients.at(0).toTensor().scalar_type(), at::kHalf);
  EXPECT_EQ(again.state_names, call.state_names);
  EXPECT_EQ(again.buffers, 1u);
  EXPECT_TRUE(again.state.at(1).isNone());
  EXPECT_EQ(again.unchanged, call.unchanged);
  EXPECT_TRUE(again.has_way_back);
  EXPECT_EQ(again.left_out, 2);
  EXPECT_EQ(again.operators, call.operators);
  std::filesystem::remove(file);
}

TEST(KeptRuns, WhatWouldNotComeBackIsNotKept) {
  const std::string file = private_folder_of_children() / "kept_runs_test";
  const auto named = c10::TupleType::createNamed(c10::QualifiedName("__torch__.Output"), std::vector<std::string>{"a"},
                                                 std::vector<c10::TypePtr>{c10::TensorType::get()});
  const auto type = c10::ClassType::create(c10::QualifiedName("__torch__.Class"), {});
  Observed tuple, object, undefined;
  undefined.output = at::Tensor();
  tuple.output = c10::ivalue::Tuple::createNamed({at::ones({2})}, named);
  object.output = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), 0);
  for (const Observed &call : {tuple, object, undefined}) {
    keep_runs(file, {{call}, 0, ""});
    EXPECT_FALSE(load_runs(file));
  }
  keep_runs("/nowhere/at/all", {{}, 0, ""}); // says nothing
}

TEST(KeptRuns, AreNarrowedToWhatACheckLooksAt) {
  Observed all;
  for (const char *name : {"parameter input a", "buffer b", "input 0 after the run"}) {
    all.state_names.emplace_back(name);
    all.state.emplace_back(std::string(name));
    all.unchanged.emplace_back();
  }
  all.parameters = all.buffers = 1;
  const auto names = [&](bool module, bool boxed) {
    return narrowed(all, {.module = module, .boxed = boxed}).state_names;
  };
  EXPECT_EQ(names(true, false), all.state_names);
  EXPECT_EQ(names(false, false), std::vector<std::string>{"input 0 after the run"});
  EXPECT_EQ(names(true, true), (std::vector<std::string>{"parameter input a", "buffer b"}));
  EXPECT_TRUE(names(false, true).empty());
}

} // namespace
} // namespace repro_minify
