// The options of the command line, the same for every subcommand.
#pragma once
#include "repro_minify/minify_options.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct Options {
  std::string model;
  std::vector<std::string> backends; ///< as given: each one name or several with commas
  BackendOptions backend_options;
  int graph = 0; ///< of several; 0: the one that fails
  std::string method = "forward";
  std::optional<std::string> inputs;
  std::vector<std::string> input_specs;
  bool grad = false;
  bool train = false;
  uint64_t seed = 0;
  int calls = 3;
  int threads = 1;
  double timeout_seconds = 0; ///< 0: from what the original takes
  uint64_t memory_bytes = 0;  ///< 0: what fits
  bool require_confinement = false;
  int jobs = 0; ///< 0: one for each core, or one for a device
  std::string check = "accuracy";
  bool only_forward = false;
  bool require_fp64 = false;
  std::string device = "cpu";
  std::optional<bool> autocast; ///< nothing: on with CUDA
  std::string autocast_dtype;   ///< empty: bfloat16 on the CPU, float16 with CUDA
  std::string deterministic = "warn";
  bool tf32 = false;
  int repeat = 1;
  int need = 1;
  std::string same_failure = "strict";
  std::string compare = "default";
  bool ignore_non_fp = false;
  bool any_dtype = false;
  bool cos_similarity = false;
  bool larger_multiplier = false;
  bool max_multiplier = false;
  bool iou_for_bool = false;
  std::optional<double> iou_threshold; ///< nothing: 0.99
  std::optional<double> tol;           ///< nothing: 1e-3, or by dtype with --compare close
  std::optional<bool> equal_nan;       ///< nothing: on, but with --compare close off
  std::string config;
  bool print_config = false;
  SettingsText effective_config; ///< as TOML, once everything is parsed
  std::string output;
  bool force = false;
  bool no_verify = false;
  bool no_bisect = false;
  std::optional<bool> ablation;
  std::vector<std::string> since; ///< interpreters
  bool anonymous = false;
  std::string oracle; ///< a program of the user's own in the place of a backend
  std::vector<std::string> passes, skip_passes;
  bool list_passes = false;
  bool all = false;
  bool resume = false;
  double time_budget_seconds = 0;
  bool json = false;
  std::optional<bool> timing; ///< of run; nothing: where one backend is asked for
  bool quiet = false;
  bool verbose = false;
  bool help_json = false;
};

enum class Command { Reduce, Run, Analyze, Bisect, Backends };
/// Adds what that one takes. Reduce is the program without a subcommand.
void add_options(CLI::App &app, Options &options, Command command);

/// Returns, by option, the values of options that were not given and whose default depends on others.
std::map<std::string, std::string> worked_out(const Options &options);
/// Checks what CLI11 cannot: options that depend on each other. Throws UserError.
MinifyOptions minify_options(const Options &options);
/// Says which of the options given none of the backends named reads.
void warn_of_options_in_vain(const Options &options);
/// --output, or the model's path with `extension` instead of ".pt".
std::string output_folder(const Options &options, const std::string &extension);

enum ExitCode {
  ReducedAndVerified = 0,
  DoesNotFail = 1,
  BadInput = 2,
  EagerNotReproducible = 3,
  NotVerified = 4,
  NoStepFound = 4,    ///< bisect
  InternalError = 70, ///< EX_SOFTWARE of sysexits.h
  InterruptedByUser = 130
};

int run_command(const Options &options);
int analyze_command(const Options &options);
int minify_command(const Options &options);
int bisect_command(const Options &options);
int backends_command(const Options &options);
/// --list-passes
int passes_command();

// The text of --version.

/// The version, and on lines of their own what this was built from and with: torch, the commit, the compiler.
std::string version_text();

// Checks of the values of options: numbers with a range, paths, modules.

// Numbers on the command line: the whole text is one, and in a range that everything behind it can take.

/// For CLI::Option::check(). The error says the range.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
/// More than 0, and at most `most`; no NaN, no infinity.
CLI::Validator positive_number(double most);

/// For CLI::Option::transform(): "4GiB", "1.5g", "300 MB" (units of 1024 each) become a number of bytes.
CLI::Validator memory_size();

// Files, folders and programs on the command line.

/// For CLI::Option::check(): not empty, as it is where a variable of a shell is not set.
CLI::Validator some_path();
/// For CLI::Option::check(): a module of Python, by its name or as a file.
CLI::Validator some_module();

} // namespace repro_minify
