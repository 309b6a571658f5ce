#include "cli/options.h"

#include "backends/backend_registry.h"
#include "core/log.h"
#include "core/text.h"

#include <algorithm>
#include <filesystem>
#include <thread>

namespace repro_minify {
namespace {

/// Returns the device of this name. Throws UserError for all but cpu and cuda: no other device is tested.
c10::Device parse_device(const std::string &text) {
  try {
    const c10::Device device(text);
    if (device.is_cpu() || device.is_cuda())
      return device;
  } catch (const std::exception &) {
  }
  throw UserError("--device " + text + ": not a device; give cpu, cuda or cuda:N");
}

/// Returns the one of `values` that has this name. CLI11 has made sure that there is one.
template <typename Value> Value named(const std::string &name, std::initializer_list<Value> values) {
  return *std::find_if(values.begin(), values.end(), [&](Value value) { return name == to_string(value); });
}

/// Refuses options that the rule does not look at: they would be given in vain.
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
  if (options.check == "run" && options.require_fp64)
    throw UserError("--check run and --require-fp64: no values are compared, and nothing is computed in float64; give "
                    "one of them");
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

/// A fault that is asked for and planted nowhere would have a right result taken for proof.
void require_reader_of_injection(const Options &options) {
  const auto reads = [](const std::string &names) {
    return with_hyphens(names).find("inductor-like") != std::string::npos;
  };
  if (!options.backend_options.inject.empty() && std::none_of(options.backends.begin(), options.backends.end(), reads))
    throw UserError("--inject " + options.backend_options.inject +
                    ": only inductor-like plants it; for inductor give --inductor-config "
                    "cpp.inject_relu_bug_TESTING_ONLY=accuracy");
}

/// Throws UserError for a pair that names no backend, whose interpreter would be another one without a word.
void require_pairs(const std::vector<std::string> &pythons) {
  for (const std::string &pair : pythons) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UserError("--python-of " + pair + ": is no BACKEND=PYTHON");
    try {
      require_known_backends({pair.substr(0, equals)});
    } catch (const UserError &error) {
      throw UserError("--python-of " + pair + ": " + error.what());
    }
  }
}

CheckOptions check_options(const Options &options) {
  require_reader_of_injection(options);
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

void warn_of_options_in_vain(const Options &options) {
  if (options.backends.empty()) // which one it is, what the model is decides
    return;
  const auto names = [&](std::initializer_list<const char *> readers) {
    const std::vector<std::string> backends = split_backend_names(options.backends);
    return std::any_of(backends.begin(), backends.end(), [&](const std::string &backend) {
      return std::any_of(readers.begin(), readers.end(),
                         [&](const char *reader) { return with_hyphens(backend).starts_with(reader); });
    });
  };
  const auto warn = [&](bool given, std::initializer_list<const char *> readers, const std::string &option) {
    if (given && !names(readers))
      log::warning(option + " has no effect under " + joined(options.backends, ", "));
  };
  const BackendOptions &of_backend = options.backend_options;
  warn(!of_backend.skipped_stages.empty(), {"inductor-like"}, "--skip-stage");
  warn(!of_backend.dumped_stages.empty(), {"inductor-like"}, "--dump-stage");
  warn(of_backend.emulate_precision_casts, {"inductor"}, "--emulate-precision-casts");
  warn(!of_backend.backend_options.empty(), {"torch-compile:", "export:"}, "--backend-option");
}

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
  require_pairs(options.backend_options.pythons);
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
  // The jobs of a device would wait for one another, and each takes memory for a context of its own.
  const unsigned at_once = how.check.device.is_cpu() ? std::max(1U, std::thread::hardware_concurrency()) : 1;
  how.jobs = options.jobs > 0 ? options.jobs : static_cast<int>(at_once);
  how.passes = {options.passes, options.skip_passes};
  how.time_budget_seconds = options.time_budget_seconds;
  how.folder = output_folder(options, ".repro");
  how.force = options.force;
  how.resume = options.resume;
  how.verify = !options.no_verify;
  how.bisect = !options.no_bisect;
  how.ablation = options.ablation.value_or(true);
  how.since = options.since;
  how.anonymous = options.anonymous;
  how.settings = options.effective_config;
  return how;
}

std::map<std::string, std::string> worked_out(const Options &options) {
  const MinifyOptions how = minify_options(options);
  const CheckOptions &check = how.check;
  std::map<std::string, std::string> values = {
      {"ablation", options.ablation.value_or(true) ? "true" : "false"},
      {"autocast", check.autocast ? "true" : "false"},
      {"autocast-dtype", check.autocast_dtype == at::kHalf ? "float16" : "bfloat16"},
      {"deterministic", to_string(check.determinism)},
      {"equal-nan", check.compare.equal_nan ? "true" : "false"},
      {"jobs", std::to_string(how.jobs)}};
  if (check.compare.use_iou_for_bool)
    values["iou-threshold"] = "0.99";
  if (has_arbiter(check.compare.rule)) // the others have none, or one for each dtype
    values["tol"] = "0.001";
  return values;
}

} // namespace repro_minify
