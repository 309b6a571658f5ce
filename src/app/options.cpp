#include "app/options.h"

#include "cli/number_option.h"
#include "cli/path_option.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <thread>

namespace repro_minify {
namespace {

/// Limits that nobody meets by intention; everything up to them can be counted, multiplied and waited for.
constexpr int64_t most_runs = 1'000'000, most_threads = 1024;
constexpr double most_seconds = 1e6;

/// On, off, or not said at all, which CLI11's own flag of an optional takes for off.
void add_choice(CLI::App &app, const std::string &names, std::optional<bool> &chosen, const std::string &help) {
  app.add_flag_function(
      names, [&chosen](std::int64_t count) { chosen = count > 0; }, help);
}

/// What is checked.
void add_model_options(CLI::App &app, Options &options) {
  app.add_option("model,--model", options.model,
                 "what fails: TorchScript (torch.jit.save), a .pt2 of torch.export, what\ntorch.compile left behind "
                 "(repro.py, minifier_launcher.py), a log of\nTORCH_TRACE or tlparse's folder");
  app.add_option(
         "-b,--backend", options.backends,
         "what gets it wrong; `repro-minify backends` lists all. Several\n(freeze,jit, or given again): reduces "
         "against the first, and\nsays of the others whether the result fails there too")
      ->allow_extra_args(false);
  app.add_option("--inputs", options.inputs,
                 "file of inputs: a list, tuple or dict saved with torch.save\n(default: inputs bundled in the model, "
                 "or inputs.pt beside it)")
      ->check(some_path());
  app.add_option("--input", options.input_specs,
                 "make an input instead: f32[2,3,32,32], i64[4,16]@0:50 (seeded;\nonce for each argument)")
      ->allow_extra_args(false);
  app.add_option("--graph", options.graph, "the N-th graph of a log of several (default: the one that fails)")
      ->check(whole_number(1, most_runs));
  app.add_option("--load-library", options.backend_options.libraries,
                 "shared library of operators of your own, loaded wherever the model is\n(may be given again)")
      ->check(some_path())
      ->allow_extra_args(false);
  app.add_option("--method", options.method, "method to run")->capture_default_str();
  app.add_flag("--grad", options.grad, "compare gradients of parameters and inputs too");
  app.add_flag("--only-fwd", options.only_forward,
               "compare what forward returns, not the buffers and inputs it\nleaves behind");
  app.add_flag("--train", options.train, "leave the model in training mode");
}

/// What both sides run under.
void add_run_options(CLI::App &app, Options &options) {
  app.add_option("--check", options.check,
                 "accuracy: compare with eager; run: only an exception, a crash or\na hang is a failure")
      ->capture_default_str()
      ->check(CLI::IsMember({"accuracy", "run"}));
  app.add_option("--device", options.device, "cpu, cuda or cuda:N")->capture_default_str();
  add_choice(app, "--autocast,!--no-autocast", options.autocast,
             "run both sides under autocast (default: on with CUDA)");
  app.add_option("--autocast-dtype", options.autocast_dtype,
                 "bfloat16 or float16 (default: bfloat16 on the CPU, float16 with\nCUDA)")
      ->check(CLI::IsMember({"bfloat16", "float16"}));
  app.add_flag(
         "--deterministic{on}", options.deterministic,
         "deterministic algorithms: off, warn (where PyTorch has them), on\n(an operator without one raises); bare: on")
      ->capture_default_str()
      ->check(CLI::IsMember({"off", "warn", "on"}));
  app.add_flag("--tf32", options.tf32, "allow TF32 on CUDA");
  app.add_flag("--require-fp64", options.require_fp64, "refuse to go on without an fp64 reference");
  app.add_option("--repeat", options.repeat, "check up to N times, for a failure that does not always show")
      ->capture_default_str()
      ->check(whole_number(1, most_runs));
  app.add_option("--need", options.need, "how many of the --repeat runs must fail")
      ->capture_default_str()
      ->check(whole_number(1, most_runs));
  app.add_option("--seed", options.seed, "seed of every generator, before loading and before each run")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<int64_t>::max()));
  app.add_option("--calls", options.calls, "calls of the optimised program, each compared")
      ->capture_default_str()
      ->check(whole_number(1, most_runs));
  app.add_option("--threads", options.threads, "threads of each check")
      ->capture_default_str()
      ->check(whole_number(1, most_threads));
}

void add_limits(CLI::App &app, Options &options) {
  app.add_option("--timeout", options.timeout_seconds,
                 "seconds a check may take (default: for the model what eager took\nsays, see docs/comparison.md; for "
                 "candidates 10x what the model\ntook, at least 10)")
      ->check(positive_number(most_seconds));
  app.add_option("--memory-limit", options.memory_bytes,
                 "memory a check may add, as in 4GiB (default: three quarters of what is free)")
      ->transform(memory_size());
  app.add_flag("--require-confinement", options.require_confinement,
               "refuse to run a model where this machine cannot confine it");
}

void add_comparison_options(CLI::App &app, Options &options) {
  app.add_option("--compare", options.compare,
                 "rules of the comparison: default, pytorch, strict; or, with no\nfloat64 to decide: close "
                 "(torch.testing.assert_close), exact (bit\nfor bit)")
      ->capture_default_str()
      ->check(CLI::IsMember({"default", "pytorch", "strict", "close", "exact"}));
  app.add_option("--tol", options.tol,
                 "absolute and relative tolerance of the comparison (default: 0.001;\nwith --compare close by dtype)")
      ->check(positive_number(1e6));
  add_choice(app, "--equal-nan,!--no-equal-nan", options.equal_nan,
             "NaN equals NaN (default: yes; with --compare close no)");
  app.add_flag("--ignore-non-fp", options.ignore_non_fp, "compare floating-point results only");
  app.add_flag("--no-exact-dtype", options.any_dtype, "a result of another dtype is compared in that dtype");
  app.add_flag("--cos-similarity", options.cos_similarity, "compare directions (a cosine of 0.99) instead of elements");
  app.add_flag("--use-larger-multiplier-for-smaller-tensor", options.larger_multiplier,
               "allow 10 times eager's own error up to 10 elements, 8 up to 500");
  app.add_flag("--force-max-multiplier", options.max_multiplier, "allow 10 times eager's own error in any tensor");
  app.add_flag("--use-iou-for-bool", options.iou_for_bool, "compare masks by intersection over union");
  app.add_option("--iou-threshold", options.iou_threshold,
                 "with --use-iou-for-bool: the least overlap that is the same (default:\n0.99)")
      ->check(positive_number(1));
}

} // namespace

void add_check_options(CLI::App &app, Options &options) {
  add_model_options(app, options);
  add_run_options(app, options);
  add_limits(app, options);
  add_comparison_options(app, options);
  add_backend_options(app, options.backend_options);
  app.add_option("--config", options.config, "TOML file with any of these options by their long names")
      ->check(some_path())
      ->configurable(false);
  app.add_flag("--print-config", options.print_config, "print the effective configuration as TOML, and do nothing")
      ->configurable(false);
  app.add_flag("-v,--verbose", options.verbose, "say more");
  app.add_flag("-q,--quiet", options.quiet, "say only what went wrong");
}

void add_backend_options(CLI::App &app, BackendOptions &options) {
  app.add_option("--python", options.python,
                 "interpreter with torch, for inductor, what is no TorchScript, and repro.py\n(default: that of the "
                 "LibTorch in use, else python3)")
      ->check(some_path());
  app.add_option(
         "--inductor-config", options.inductor_config,
         "KEY=VALUE for inductor, a name of torch._inductor.config, or\nmode=..., dynamic=true, frontend=fx|dynamo")
      ->allow_extra_args(false);
  app.add_option("--skip-stage", options.skipped_stages, "inductor-like without that stage of its compilation")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--dump-stage", options.dumped_stages,
                 "with run: print what that stage of inductor-like made (or: all)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--emulate-precision-casts", options.emulate_precision_casts,
               "round to 16 bits after each operator of a fused kernel");
  app.add_option("--inject", options.inject,
                 "a fault on purpose, for demonstrations: relu-compile-error,\nrelu-runtime-error, relu-accuracy, "
                 "relu-internal-error")
      ->check(CLI::IsMember({"relu-compile-error", "relu-runtime-error", "relu-accuracy", "relu-internal-error"}));
}

void add_reduce_options(CLI::App &app, Options &options) {
  app.add_option("-o,--output", options.output,
                 "folder for the repro (default: MODEL without its ending, with\n.repro)")
      ->check(some_path());
  app.add_flag("--force", options.force, "write into a folder that exists");
  app.add_option("--same-failure", options.same_failure,
                 "what a smaller program must keep: strict (the whole signature),\nkind, any")
      ->capture_default_str()
      ->check(CLI::IsMember({"strict", "kind", "any"}));
  app.add_option("-j,--jobs", options.jobs,
                 "checks at a time (default: one for each core); the result is the\nsame for any number")
      ->check(whole_number(1, most_threads));
  app.add_option("--oracle", options.oracle,
                 "instead of --backend: a program that is given a candidate's path and\nexits with 0 if it is "
                 "interesting, 1 if not, 125 if it cannot tell,\n101 if it is not but worth keeping")
      ->check(some_path());
  app.add_flag("--resume", options.resume, "go on where an earlier run into this folder was killed");
  app.add_option("--time-budget", options.time_budget_seconds,
                 "seconds after which the search ends with the best so far")
      ->check(positive_number(most_seconds));
  app.add_option("--passes", options.passes, "only these passes, as in cut,splice")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--skip-pass", options.skip_passes, "all passes but these")->delimiter(',')->allow_extra_args(false);
  app.add_flag("--list-passes", options.list_passes, "list the passes, and do nothing")->configurable(false);
  app.add_flag("--no-verify", options.no_verify,
               "do not build and run repro.cpp at the end, nor make its model.pt2\n(inductor)");
  add_choice(
      app, "--ablation,!--no-ablation", options.ablation,
      "for issue.md: ask, once the repro is verified, whether TorchInductor\nfails too, and of inductor what parts "
      "of it do (3 to 20 s;\ndefault: yes)");
  app.add_flag("--anonymous", options.anonymous, "say nothing in issue.md of where the model comes from");
  app.add_flag("--no-bisect", options.no_bisect, "do not look for the step of the backend that is guilty");
}

void add_single_check_options(CLI::App &app, Options &options) {
  app.add_flag("--json", options.json, "print JSON");
  add_choice(app, "--timing,!--no-timing", options.timing,
             "measure how fast either side is, which takes as long as the\ncheck (default: where one backend is asked "
             "for)");
}

void add_analyze_options(CLI::App &app, Options &options) {
  app.add_option("-o,--output", options.output,
                 "folder for the table, JSON and picture (default: MODEL without\n.pt, with .analysis)")
      ->check(some_path());
  app.add_flag("--force", options.force, "write into a folder that exists");
  app.add_option("-j,--jobs", options.jobs, "checks at a time (default: one for each core)")
      ->check(whole_number(1, most_threads));
  app.add_flag("--json", options.json, "print JSON");
}

namespace {

/// Only cpu and cuda have somebody who tests them.
c10::Device parse_device(const std::string &text) {
  try {
    const c10::Device device(text);
    if (device.is_cpu() || device.is_cuda())
      return device;
  } catch (const std::exception &) {
  }
  throw UserError("--device " + text + ": not a device; give cpu, cuda or cuda:N");
}

/// Of several values the one of that name: CLI11 has seen to it that there is one.
template <typename Value> Value named(const std::string &name, std::initializer_list<Value> values) {
  return *std::find_if(values.begin(), values.end(), [&](Value value) { return name == to_string(value); });
}

/// What a rule does not look at would be given in vain.
void require_effect(const Options &options, CompareRule rule) {
  const bool by_element = rule == CompareRule::Strict || !has_arbiter(rule);
  const auto refuse = [&](bool given, bool without_effect, const std::string &option) {
    if (given && without_effect)
      throw UserError("--compare " + options.compare + " and " + option + ": it has no effect under " +
                      options.compare + "; give one of them");
  };
  refuse(options.cos_similarity, by_element, "--cos-similarity");
  refuse(options.iou_for_bool, by_element, "--use-iou-for-bool");
  refuse(options.larger_multiplier, !has_arbiter(rule), "--use-larger-multiplier-for-smaller-tensor");
  refuse(options.max_multiplier, !has_arbiter(rule), "--force-max-multiplier");
  if (options.iou_threshold && !options.iou_for_bool)
    throw UserError("--iou-threshold: has an effect with --use-iou-for-bool alone; give that too");
}

CompareOptions compare_options(const Options &options) {
  CompareOptions compare = accuracy_check_options();
  compare.rule = named(options.compare, {CompareRule::Default, CompareRule::PyTorch, CompareRule::Strict,
                                         CompareRule::Close, CompareRule::Exact});
  if (compare.rule == CompareRule::Exact && options.tol)
    throw UserError("--compare exact and --tol: exact is bit for bit and has no tolerance; give --compare close --tol");
  if (compare.rule == CompareRule::Exact && !options.equal_nan.value_or(true))
    throw UserError("--compare exact and --no-equal-nan: under exact a NaN equals a NaN; give --compare close");
  if (!has_arbiter(compare.rule) && options.require_fp64)
    throw UserError("--compare " + options.compare + " and --require-fp64: " + options.compare +
                    " asks eager alone, and no float64 reference; give one of them");
  require_effect(options, compare.rule);
  compare.tol = options.tol.value_or(compare.tol);
  compare.tol_by_dtype = compare.rule == CompareRule::Close && !options.tol;
  compare.equal_nan = options.equal_nan.value_or(compare.rule != CompareRule::Close);
  compare.ignore_non_fp = options.ignore_non_fp;
  compare.exact_dtype = !options.any_dtype;
  compare.cos_similarity = options.cos_similarity;
  compare.use_larger_multiplier_for_smaller_tensor = options.larger_multiplier;
  compare.force_max_multiplier = options.max_multiplier;
  compare.use_iou_for_bool = options.iou_for_bool;
  compare.iou_threshold = options.iou_threshold.value_or(compare.iou_threshold);
  return compare;
}

CheckOptions check_options(const Options &options) {
  if (options.only_forward && options.grad)
    throw UserError("--only-fwd and --grad: give one of them");
  if (options.need > options.repeat)
    throw UserError("--need " + std::to_string(options.need) + ": more than --repeat " +
                    std::to_string(options.repeat));
  CheckOptions check;
  check.mode = options.check == "run" ? CheckMode::Run : CheckMode::Accuracy;
  check.device = parse_device(options.device);
  check.autocast = options.autocast.value_or(check.device.is_cuda());
  const bool half = options.autocast_dtype.empty() ? check.device.is_cuda() : options.autocast_dtype == "float16";
  check.autocast_dtype = half ? at::kHalf : at::kBFloat16;
  check.determinism = named(options.deterministic, {Determinism::Off, Determinism::Warn, Determinism::On});
  check.tf32 = options.tf32;
  check.grad = options.grad;
  check.only_forward = options.only_forward;
  check.require_fp64 = options.require_fp64;
  check.calls = options.calls;
  check.seed = options.seed;
  check.threads = options.threads;
  check.compare = compare_options(options);
  return check;
}

} // namespace

std::string output_folder(const Options &options, const std::string &extension) {
  if (!options.output.empty())
    return options.output;
  std::filesystem::path folder(options.model);
  if (!folder.has_filename()) // a folder that tlparse made, named with its slash
    folder = folder.parent_path();
  folder.replace_extension(extension);
  return folder.string();
}

MinifyOptions minify_options(const Options &options) {
  MinifyOptions how;
  how.backends = options.backends;
  how.backend_options = options.backend_options;
  how.oracle = options.oracle;
  how.graph = options.graph;
  how.method = options.method;
  how.inputs = options.inputs;
  how.input_specs = options.input_specs;
  how.train = options.train;
  how.check = check_options(options);
  how.repetition = {.runs = options.repeat, .need = options.need};
  how.same_failure = named(options.same_failure, {SameFailure::Strict, SameFailure::Kind, SameFailure::Any});
  how.timeout_seconds = options.timeout_seconds;
  how.memory_bytes = options.memory_bytes;
  how.require_confinement = options.require_confinement;
  how.jobs = options.jobs > 0 ? options.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  how.passes = {options.passes, options.skip_passes};
  how.time_budget_seconds = options.time_budget_seconds;
  how.folder = output_folder(options, ".repro");
  how.force = options.force;
  how.resume = options.resume;
  how.verify = !options.no_verify;
  how.bisect = !options.no_bisect;
  how.ablation = options.ablation.value_or(true);
  how.anonymous = options.anonymous;
  how.settings = options.effective_config;
  return how;
}

std::map<std::string, std::string> worked_out(const Options &options) {
  const CheckOptions check = minify_options(options).check;
  std::map<std::string, std::string> values = {
      {"autocast", check.autocast ? "true" : "false"},
      {"autocast-dtype", check.autocast_dtype == at::kHalf ? "float16" : "bfloat16"},
      {"deterministic", to_string(check.determinism)},
      {"equal-nan", check.compare.equal_nan ? "true" : "false"}};
  if (check.compare.use_iou_for_bool)
    values["iou-threshold"] = "0.99";
  if (has_arbiter(check.compare.rule)) // the others have none, or one for each dtype
    values["tol"] = "0.001";
  return values;
}

} // namespace repro_minify
