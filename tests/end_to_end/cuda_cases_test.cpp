// The models of fixtures/ on a CUDA device, where there is none (on_cuda.h): each is reduced as on the CPU, or ends in
// another way for a reason that is given here. On every commit some are, one of each backend and of each end, under
// float16 autocast, which is what --device cuda does; where everything is asked for, all are, without autocast and
// under bfloat16 too, and all repros are run.
#include "all_tests.h"
#include "cases.h"
#include "on_cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace repro_minify::end_to_end {
namespace {

using nlohmann::json;

std::vector<std::string> autocasts() {
  if (everything_is_asked_for())
    return {"float16", "none", "bfloat16"};
  return {"float16"};
}

std::vector<std::string> under(const std::string &autocast, std::vector<std::string> arguments) {
  if (autocast == "none")
    arguments.emplace_back("--no-autocast");
  else
    arguments.insert(arguments.end(), {"--autocast-dtype", autocast});
  return arguments;
}

/// A model that ends in another way on a device than on the CPU.
struct Exception {
  std::string name;
  std::string ends;      ///< "raises": eager does; "passes"; or the kind of another failure
  std::string autocasts; ///< under which
  std::string reason;
};

std::string end_of(const std::vector<Exception> &exceptions, const std::string &name, const std::string &autocast) {
  for (const auto &[of, ends, autocasts, reason] : exceptions)
    if (of == name && contains(autocasts, autocast))
      return ends;
  return "";
}

constexpr const char *always = "float16 none bfloat16";
constexpr const char *no_code = "a LibTorch without CUDA compiles nothing for it";
constexpr const char *two_devices = "the model makes tensors on the CPU by itself";
constexpr const char *onednn = "the pass makes operators of oneDNN, which is for the CPU";

const std::vector<Exception> cases_that_differ = {
    {"big_jit_loop_swap", "raises", always, two_devices},
    {"jit_75794_loop_swap", "raises", always, two_devices},
    {"grad_unsupported_value_kind_exc", "raises", always, two_devices},
    {"pass_remove_inplace_view", "raises", always, two_devices},
    {"autocast_exp_dtype", "passes", always, "autocast runs exp in float32 on CUDA, and not on the CPU"},
    {"ofi_clamp_min_assert", "passes", always, onednn},
    {"big_ofi_clamp_min", "passes", "none", onednn},
    {"big_ofi_clamp_min", "dtype", "float16 bfloat16", "a linear that is folded is not cast"},
    {"nnc_clamp_int_float_bound", "passes", always, no_code},
    {"nnc_floor_int_exc", "passes", always, no_code},
    {"nnc_hardshrink_nan", "passes", always, no_code},
    {"nnc_round_half", "passes", always, no_code},
    {"nnc_const_group_garbage", "passes", "float16 bfloat16", no_code},
    {"grad_70223_unroll_autograd_exc", "passes", "float16 bfloat16", "its loop is not unrolled with casts in it"},
    {"jit_einsum_view_alias", "passes", "float16 bfloat16", "a cast makes a copy of what is a view without it"},
    {"grad_linear_1d_weight_exc", "dtype", "float16 bfloat16", "the gradient's dtype differs before its shape does"},
};

struct CaseOnCuda {
  Case row;
  std::string autocast;
};

void PrintTo(const CaseOnCuda &one, std::ostream *out) {
  *out << one.row.name << " under " << one.autocast;
}

/// TorchInductor's own Python compiles for the device, which is none: fx_test.cpp has its programs.
std::vector<CaseOnCuda> cases_on_cuda() {
  std::vector<CaseOnCuda> asked;
  for (const std::string &autocast : autocasts())
    for (const Case &row : all_cases())
      if (row.backend != "inductor")
        asked.push_back({row, autocast});
  return asked;
}

/// Building and running both repros takes longer than the reduction.
bool is_verified(const CaseOnCuda &asked) {
  const bool is_one_of_each = asked.row.name == "freeze_linear_bn_3d" || asked.row.name == "grad_82635_min_tie";
  return everything_is_asked_for() || is_one_of_each;
}

class CasesOnCuda : public testing::TestWithParam<CaseOnCuda> {};

TEST_P(CasesOnCuda, AreReducedAsOnTheCpu) {
  const std::set<std::string> some = {"autocast_lerp_exc",      "big_autocast_lerp",        "freeze_linear_bn_3d",
                                      "grad_82635_min_tie",     "grad_complex_abs_exc",     "jit_einsum_view_alias",
                                      "jit_type_as_dce",        "nnc_hardshrink_nan",       "ofi_clamp_min_assert",
                                      "pass_fuse_add_relu_nan", "pass_remove_inplace_view", "static_int_div_exc"};
  if (some.count(GetParam().row.name) == 0)
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const auto &[row, autocast] = GetParam();
  const SteadyMemory steady(row);
  auto arguments = row.with_backend(under(autocast, {row.model()}));
  if (is_verified(GetParam()))
    arguments.emplace_back(verify);
  const ReducedOnCuda reduced = reduced_on_cuda(arguments);
  const std::string other_end = end_of(cases_that_differ, row.name, autocast), &said = reduced.finished.err;
  if (other_end == "raises" || other_end == "passes") {
    EXPECT_EQ(reduced.finished.exit_code, other_end == "raises" ? 2 : 1) << describe(reduced.finished);
    EXPECT_TRUE(contains(said, other_end == "raises" ? "eager itself raises" : "does not fail under")) << said;
    return;
  }
  ASSERT_EQ(reduced.finished.exit_code, 0) << describe(reduced.finished);
  const json &report = reduced.report;
  EXPECT_EQ(report.at("device"), "cuda");
  EXPECT_FALSE(report.at("interrupted"));
  EXPECT_EQ(report.at("one_minimal"), true);
  EXPECT_EQ(report.at("verdict").at("kind"), other_end.empty() ? row.reduced_kind : other_end);
  EXPECT_LE(report.at("after").at("operators"), row.operators_at_most);
  if (is_verified(GetParam())) {
    EXPECT_EQ(report.at("verified"), true) << report.at("verification");
    EXPECT_EQ(report.at("repro_py").at("verified"), true) << report.at("repro_py");
  }
}

INSTANTIATE_TEST_SUITE_P(Of, CasesOnCuda, testing::ValuesIn(cases_on_cuda()),
                         [](const auto &info) { return info.param.row.name + "_" + info.param.autocast; });

/// A process that is kept answers each question as a fresh one does. The contexts that it saves are those of all
/// questions but one.
class KeptProcesses : public testing::TestWithParam<CaseOnCuda> {};

TEST_P(KeptProcesses, AnswerAsFreshOnesDo) {
  const auto &[row, autocast] = GetParam();
  const SteadyMemory steady(row);
  const auto arguments = row.with_backend(under(autocast, {row.model()}));
  const ReducedOnCuda kept = reduced_on_cuda(arguments), fresh = reduced_on_cuda(arguments, "", {fresh_processes});
  EXPECT_EQ(kept.finished.exit_code, fresh.finished.exit_code);
  EXPECT_EQ(kept.answers, fresh.answers);
  if (kept.report.is_object()) {
    EXPECT_EQ(kept.report.at("program"), fresh.report.at("program"));
    EXPECT_EQ(kept.report.at("checks"), fresh.report.at("checks"));
  }
}

std::vector<CaseOnCuda> some_cases_on_cuda() {
  std::vector<CaseOnCuda> asked = cases_on_cuda();
  const std::set<std::string> some = {"jit_peephole_bool_mul1", "static_detach_metadata",
                                      "grad_leaky_relu_inplace_exc"};
  if (!everything_is_asked_for())
    std::erase_if(asked, [&](const CaseOnCuda &one) { return some.count(one.row.name) == 0; });
  return asked;
}

INSTANTIATE_TEST_SUITE_P(Of, KeptProcesses, testing::ValuesIn(some_cases_on_cuda()),
                         [](const auto &info) { return info.param.row.name + "_" + info.param.autocast; });

// Constructs (fixtures/constructs), and models of the kinds that people have (fixtures/small_models).

constexpr const char *quantised = "quantised operators are for the CPU";
constexpr const char *static_runtime = "Static Runtime makes tensors on the CPU";

const std::vector<Exception> constructs_that_differ = {
    {"quantised_statically", "raises", always, quantised},
};

using Named = std::pair<std::string, std::string>; // and autocast

std::vector<Named> constructs_on_cuda() {
  std::vector<Named> asked;
  for (const std::string &autocast : autocasts())
    for (const std::string name : json::parse(read_text(fixtures() / "constructs/expected.json")))
      asked.emplace_back(name, autocast);
  return asked;
}

std::string name_and_autocast(const testing::TestParamInfo<Named> &info) {
  return info.param.first + "_" + info.param.second;
}

class ConstructsOnCuda : public testing::TestWithParam<Named> {};

TEST_P(ConstructsOnCuda, LeaveNothingOfThemselves) {
  const auto &[name, autocast] = GetParam();
  const std::set<std::string> some = {"attention", "packed", "quantised_statically"};
  if (some.count(name) == 0)
    SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const ReducedOnCuda reduced =
      reduced_on_cuda(under(autocast, {fixtures() / "constructs" / name / "failing.pt", "--backend", "freeze"}));
  const std::string other_end = end_of(constructs_that_differ, name, autocast);
  ASSERT_EQ(reduced.finished.exit_code, other_end == "raises" ? 2 : 0) << describe(reduced.finished);
  if (other_end == "raises")
    return;
  EXPECT_EQ(reduced.report.at("verdict").at("kind"), "accuracy");
  EXPECT_EQ(reduced.report.at("one_minimal"), true);
  EXPECT_EQ(reduced.report.at("after").at("operators"), 2); // linear, batch_norm
}

INSTANTIATE_TEST_SUITE_P(Of, ConstructsOnCuda, testing::ValuesIn(constructs_on_cuda()), name_and_autocast);

/// Each is named with its backend.
const std::vector<Exception> models_that_differ = {
    {"conv_next static-runtime", "fails", always, static_runtime},
    {"quantised_dynamic static-runtime", "fails", always, static_runtime},
    {"quantised_static jit", "raises", always, quantised},
    {"quantised_static freeze", "raises", always, quantised},
    {"transformer jit", "fails", "float16 bfloat16", "TorchScript's own pass for autocast crashes"},
    {"vision_transformer_script jit", "fails", "float16 bfloat16", "TorchScript's own pass for autocast crashes"},
    {"conv_net optimize-for-inference", "fails", "float16 bfloat16", "a linear that is folded is not cast"},
};

class SmallModelsOnCuda : public testing::TestWithParam<Named> {};

std::vector<Named> models_on_cuda() {
  std::vector<Named> asked;
  for (const std::string &autocast : autocasts())
    for (const json &row : json::parse(read_text(fixtures() / "small_models/expected.json")))
      asked.emplace_back(row.at("model"), autocast);
  return asked;
}

TEST_P(SmallModelsOnCuda, AreTakenAndJudged) {
  const auto &[name, autocast] = GetParam();
  for (const json &row : json::parse(read_text(fixtures() / "small_models/expected.json")))
    for (const std::string backend : row.at("model") == name ? row.at("backends") : json::array()) {
      if (backend == "inductor")
        continue;
      const auto fails = row.at("fails").get<std::vector<std::string>>();
      std::string end = end_of(models_that_differ, name + " " + backend, autocast);
      if (end.empty() && std::find(fails.begin(), fails.end(), backend) != fails.end())
        end = "fails";
      const Finished finished = run_on_cuda(under(autocast, {"run", fixtures() / "small_models" / name / "model.pt",
                                                             "--backend", backend, "--json", "--no-timing"}));
      EXPECT_EQ(finished.exit_code, end == "raises"  ? 2
                                    : end == "fails" ? 1
                                                     : 0)
          << backend << ": " << describe(finished);
      if (!everything_is_asked_for())
        break;
    }
}

INSTANTIATE_TEST_SUITE_P(Of, SmallModelsOnCuda, testing::ValuesIn(models_on_cuda()), name_and_autocast);

} // namespace
} // namespace repro_minify::end_to_end
