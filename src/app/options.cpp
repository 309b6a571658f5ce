#include "app/options.h"

namespace repro_minify {

void add_check_options(CLI::App &app, Options &options) {
  app.add_option("model", options.model, "TorchScript archive that fails (torch.jit.save)")->required();
  app.add_option("-b,--backend", options.backend, "what gets it wrong; `repro-minify backends` lists all")->required();
  app.add_option("--inputs", options.inputs,
                 "file of inputs: a list, tuple or dict saved with torch.save\n(default: inputs bundled in the model, "
                 "or inputs.pt beside it)");
  app.add_option("--input", options.input_specs,
                 "make an input instead: f32[2,3,32,32], i64[4,16]@0:50 (seeded;\nonce for each argument)")
      ->allow_extra_args(false);
  app.add_option("--method", options.method, "method to run")->capture_default_str();
  app.add_flag("--grad", options.grad, "compare gradients of parameters and inputs too");
  app.add_flag("--train", options.train, "leave the model in training mode");
  app.add_option("--seed", options.seed, "seed of every generator, before loading and before each run")
      ->capture_default_str();
  app.add_option("--calls", options.calls, "calls of the optimised program, each compared")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "threads of each check")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--timeout", options.timeout_seconds,
                 "seconds a check may take (default: 10x what the original took,\nat least 10)")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory-limit", options.memory_bytes, "memory a check may add, as in 4GiB (default: no limit)")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--compare", options.compare, "rules of the comparison: default, pytorch, strict")
      ->capture_default_str()
      ->check(CLI::IsMember({"default", "pytorch", "strict"}));
  app.add_option("--tol", options.tol, "tolerance of the comparison")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_flag("--ignore-non-fp", options.ignore_non_fp, "compare floating-point results only");
  app.add_flag("-v,--verbose", options.verbose, "say more");
  app.add_flag("-q,--quiet", options.quiet, "say only what went wrong");
}

void add_reduce_options(CLI::App &app, Options &options) {
  app.add_option("-o,--output", options.output, "folder for the repro (default: MODEL without .pt, with .repro)");
  app.add_flag("--force", options.force, "write into a folder that exists");
  app.add_option("-j,--jobs", options.jobs,
                 "checks at a time (default: one for each core); the result is the\nsame for any number")
      ->check(CLI::PositiveNumber);
  app.add_flag("!--no-verify", options.verify, "do not build and run repro.cpp at the end");
}

CheckOptions check_options(const Options &options) {
  CheckOptions check;
  check.grad = options.grad;
  check.calls = options.calls;
  check.seed = options.seed;
  check.threads = options.threads;
  check.compare.tol = options.tol;
  check.compare.ignore_non_fp = options.ignore_non_fp;
  check.compare.rule = options.compare == "strict"    ? CompareRule::Strict
                       : options.compare == "pytorch" ? CompareRule::PyTorch
                                                      : CompareRule::Default;
  return check;
}

} // namespace repro_minify
