// The options of the command line, as CLI11 takes them: in the order, and under the headings, of docs/reference.md.
#include "cli/options.h"

#include <limits>

namespace repro_minify {
namespace {

/// Limits that no user meets by intention; everything up to them can be counted, multiplied and waited for.
constexpr int64_t most_runs = 1'000'000, most_threads = 1024;
constexpr double most_seconds = 1e6;

/// On, off, or not said at all, which CLI11's own flag of an optional takes for off.
void add_choice(CLI::App &app, const std::string &names, std::optional<bool> &chosen, const std::string &help) {
  app.add_flag_function(
      names, [&chosen](std::int64_t count) { chosen = count > 0; }, help);
}

/// Those that are added to `app` from now on stand under that heading of its help. docs/reference.md has the same.
void begin_group(CLI::App &app, const std::string &heading) {
  app.option_defaults()->group(heading);
}

void add_subject_options(CLI::App &app, Options &options, Command command) {
  app.add_option("model,--model", options.model,
                 "what fails: TorchScript (torch.jit.save), a .pt2 of torch.export, what\ntorch.compile left behind "
                 "(repro.py, minifier_launcher.py), a log of\nTORCH_TRACE or tlparse's folder");
  app.add_option("--graph", options.graph, "the N-th graph of a log of several (default: the one that fails)")
      ->check(whole_number(1, most_runs));
  app.add_option("--load-library", options.backend_options.libraries,
                 "shared library of operators of your own, loaded wherever the model is\n(may be given again)")
      ->check(some_path())
      ->allow_extra_args(false);
  app.add_option("--import", options.backend_options.imports,
                 "module of Python that registers operators of your own, or a FILE.py,\nimported wherever the model is "
                 "(may be given again)")
      ->check(some_module())
      ->allow_extra_args(false);
  const std::string several = command == Command::Reduce ? ". Several\n(freeze,jit, or given again): reduces against "
                                                           "the first, and\nsays of the others whether the result "
                                                           "fails there too"
                              : command == Command::Run  ? ". Several\n(freeze,jit, or given again): each is checked"
                                                         : "";
  app.add_option("-b,--backend", options.backends, "what gets it wrong; `repro-minify backends` lists all" + several)
      ->allow_extra_args(false);
  if (command == Command::Reduce)
    app.add_option("--oracle", options.oracle,
                   "instead of --backend: a program that is given a candidate's path and\nexits with 0 if it is "
                   "interesting, 1 if not, 125 if it cannot tell,\n101 if it is not but worth keeping")
        ->check(some_path());
}

void add_model_options(CLI::App &app, Options &options, Command command) {
  begin_group(app, "what is checked");
  add_subject_options(app, options, command);
  app.add_option("--inputs", options.inputs,
                 "file of inputs: a list, tuple or dict saved with torch.save\n(default: inputs bundled in the model, "
                 "or inputs.pt beside it)")
      ->check(some_path());
  app.add_option("--input", options.input_specs,
                 "make an input instead: f32[2,3,32,32], i64[4,16]@0:50 (seeded;\nonce for each argument)")
      ->allow_extra_args(false);
  app.add_option("--method", options.method, "method to run")->capture_default_str();
  app.add_flag("--train", options.train, "leave the model in training mode");
  app.add_flag("--grad", options.grad, "compare gradients of parameters and inputs too");
  app.add_flag("--only-fwd", options.only_forward,
               "compare what forward returns, not the buffers and inputs it\nleaves behind");
  app.add_option("--check", options.check,
                 "accuracy: compare with eager; run: only an exception, a crash or\na hang is a failure")
      ->capture_default_str()
      ->check(CLI::IsMember({"accuracy", "run"}));
}

/// The options that both sides run under.
void add_settings(CLI::App &app, Options &options) {
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
  app.add_option("--seed", options.seed, "seed of every generator, before loading and before each run")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<int64_t>::max()));
  app.add_option("--threads", options.threads, "threads of each check")
      ->capture_default_str()
      ->check(whole_number(1, most_threads));
}

void add_run_options(CLI::App &app, Options &options, Command command) {
  begin_group(app, "how it is run");
  add_settings(app, options);
  app.add_option("--calls", options.calls, "calls of the optimised program, each compared")
      ->capture_default_str()
      ->check(whole_number(1, most_runs));
  app.add_option("--repeat", options.repeat, "check up to N times, for a failure that does not always show")
      ->capture_default_str()
      ->check(whole_number(1, most_runs));
  app.add_option("--need", options.need, "how many of the --repeat runs must fail")
      ->capture_default_str()
      ->check(whole_number(1, most_runs));
  app.add_option(
         "--timeout", options.timeout_seconds,
         "seconds a check may take, by the clock and all in all; while a\nhang is reduced, up to ten times as long on "
         "a busy machine (default:\nfor the model what eager took says, see docs/comparison.md; for\n"
         "candidates 10x what the model took, at least 10)")
      ->check(positive_number(most_seconds));
  app.add_option("--memory-limit", options.memory_bytes,
                 "memory of the machine (not of a device) that a check may add, as in\n"
                 "4GiB (default: three quarters of what is free)")
      ->transform(memory_size());
  app.add_flag("--require-confinement", options.require_confinement,
               "refuse to run a model where this machine cannot confine it");
  if (command == Command::Reduce || command == Command::Analyze)
    app.add_option("-j,--jobs", options.jobs,
                   std::string("checks at a time (default: one for each core; 1 with --device cuda)") +
                       (command == Command::Reduce ? "; the result is the\nsame for any number" : ""))
        ->check(whole_number(1, most_threads));
}

void add_comparison_options(CLI::App &app, Options &options, Command command) {
  begin_group(app, "how it is compared");
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
  app.add_flag("--require-fp64", options.require_fp64, "refuse to go on without an fp64 reference");
  if (command == Command::Reduce || command == Command::Bisect)
    app.add_option("--same-failure", options.same_failure,
                   command == Command::Reduce
                       ? "what a smaller program must keep: strict (the whole signature),\nkind, any"
                       : "what counts as wrong: strict (the whole signature of the model's\nfailure), kind, any")
        ->capture_default_str()
        ->check(CLI::IsMember({"strict", "kind", "any"}));
}

void add_timing_option(CLI::App &app, Options &options) {
  begin_group(app, "of run alone");
  add_choice(app, "--timing,!--no-timing", options.timing,
             "measure how fast either side is, which takes as long as the\ncheck (default: where one backend is asked "
             "for)");
}

void add_search_options(CLI::App &app, Options &options) {
  begin_group(app, "how it is reduced");
  app.add_option("--passes", options.passes, "only these passes, as in cut,splice")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--skip-pass", options.skip_passes, "all passes but these")->delimiter(',')->allow_extra_args(false);
  app.add_flag("--list-passes", options.list_passes, "list the passes, and do nothing")->configurable(false);
  app.add_flag("--all", options.all,
               "all failures: once one is reduced, what it needs is held at eager's\nvalues and the rest is reduced, "
               "until it passes; a folder each");
  app.add_option("--time-budget", options.time_budget_seconds,
                 "seconds after which all of it ends with the best so far; what there\nwas no time for is said")
      ->check(positive_number(most_seconds));
  app.add_flag("--resume", options.resume, "go on where an earlier run into this folder was killed");
  app.add_flag("--no-bisect", options.no_bisect, "do not look for the step of the backend that is guilty");
}

void add_folder_options(CLI::App &app, Options &options, Command command) {
  app.add_option("-o,--output", options.output,
                 command == Command::Reduce
                     ? "folder for the repro (default: MODEL without its ending, with\n.repro)"
                     : "folder for the table, JSON and picture (default: MODEL without\n.pt, with .analysis)")
      ->check(some_path());
  app.add_flag("--force", options.force, "write into a folder that exists");
}

void add_repro_options(CLI::App &app, Options &options) {
  app.add_flag("--no-verify", options.no_verify,
               "do not build and run repro.cpp at the end, nor make its model.pt2\n(inductor)");
  add_choice(
      app, "--ablation,!--no-ablation", options.ablation,
      "for issue.md: ask, once the repro is verified, whether TorchInductor\nfails too, and of inductor what parts "
      "of it do (3 to 20 s;\ndefault: yes)");
  app.add_option(
         "--since", options.since,
         "interpreters with other versions of torch, as in\nv212/bin/python,v215/bin/python: repro.py is run in "
         "each, and the\nreports say which are right, and which side moved")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--anonymous", options.anonymous, "say nothing in issue.md of where the model comes from");
}

/// The options that no subcommand has.
void add_program_options(CLI::App &app, Options &options) {
  app.set_version_flag("--version", version_text(), "print the version, that of torch, the commit and the compiler");
  app.add_flag("--help-json", options.help_json, "print this help as JSON")->configurable(false);
}

void add_output_options(CLI::App &app, Options &options, Command command) {
  begin_group(app, "what is written");
  if (command == Command::Reduce || command == Command::Analyze)
    add_folder_options(app, options, command);
  if (command == Command::Reduce)
    add_repro_options(app, options);
  else
    app.add_flag("--json", options.json, "print JSON");
  if (command != Command::Backends) {
    app.add_flag("-v,--verbose", options.verbose, "say more");
    app.add_flag("-q,--quiet", options.quiet, "say only what went wrong");
    app.add_option("--config", options.config, "TOML file with any of these options by their long names")
        ->check(some_path())
        ->configurable(false);
    app.add_flag("--print-config", options.print_config, "print the effective configuration as TOML, and do nothing")
        ->configurable(false);
  }
  app.set_help_flag("-h,--help", "print this help");
  if (command == Command::Reduce)
    add_program_options(app, options);
}

void add_backend_options(CLI::App &app, BackendOptions &options) {
  begin_group(app, "of one backend");
  app.add_option("--python", options.python,
                 "interpreter with torch, for inductor, what is no TorchScript, and repro.py\n(default: that of the "
                 "LibTorch in use, else python3)")
      ->check(some_path());
  app.add_option("--python-of", options.pythons,
                 "BACKEND=PYTHON: the interpreter of one backend of several, as in\nexport:openvino=ov/bin/python")
      ->allow_extra_args(false);
  app.add_option("--backend-option", options.backend_options,
                 "KEY=VALUE for torch-compile:NAME (options= of torch.compile) or\nexport:NAME (of its recipe)")
      ->allow_extra_args(false);
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

} // namespace

void add_options(CLI::App &app, Options &options, Command command) {
  if (command != Command::Backends) {
    add_model_options(app, options, command);
    add_run_options(app, options, command);
    add_comparison_options(app, options, command);
  }
  if (command == Command::Run)
    add_timing_option(app, options);
  if (command == Command::Reduce)
    add_search_options(app, options);
  add_output_options(app, options, command);
  add_backend_options(app, options.backend_options);
}

} // namespace repro_minify
