#include "pipeline/open_model.h"

#include "backends/backend_registry.h"
#include "repro/results_folder.h"
#include "repro_minify/program.h"
#include "repro_minify/session.h"
#include "tasks/limits.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace repro_minify {

std::chrono::milliseconds limit_of(double seconds) {
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(std::ceil(seconds * 1000))));
}

std::uint64_t memory_limit(const MinifyOptions &options) {
  return options.memory_bytes > 0 ? options.memory_bytes : memory_that_fits();
}

Limits reading_limits(const MinifyOptions &options) {
  Limits limits = generous_limits();
  if (options.timeout_seconds > 0)
    limits.timeout = limit_of(options.timeout_seconds);
  limits.memory_bytes = memory_limit(options);
  limits.interrupted = options.listener.interrupted;
  return limits;
}

namespace fs = std::filesystem;

void require_free(const std::string &folder, bool force) {
  std::error_code error;
  if (!fs::exists(folder, error))
    return;
  if (!fs::is_directory(folder, error))
    throw UserError(folder + ": is a file; name a folder with -o");
  if (!force && !fs::is_empty(folder, error))
    throw UserError(folder + ": exists; give --force to write into it, or another folder with -o");
  begin_results(folder);
}

void make_folder(const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw UserError(folder + ": cannot be made: " + error.message());
  lock_results(folder);
}

namespace {

/// Who has a failure of torch.compile need not say under what it fails.
void require_backend(MinifyOptions &options, ModelKind kind) {
  if (!options.backends.empty() || !options.oracle.empty())
    return;
  if (kind != ModelKind::Program && kind != ModelKind::Log)
    throw UserError("--backend: none given; `repro-minify backends` lists them");
  options.backends = {"inductor"};
}

MinifyOptions with_conversion(MinifyOptions options, const Conversion &conversion) {
  options.conversion = std::make_shared<Conversion>(conversion);
  if (conversion.keeps_calls) // they are among its inputs
    options.inputs.reset();
  std::vector<std::string> &entries = options.backend_options.inductor_config;
  entries.insert(entries.begin(), conversion.inductor_config.begin(), conversion.inductor_config.end());
  return options;
}

/// Returns the result of one check of the graph in a few words, and sets `fails` where the check has an answer.
std::string verdict_words(const std::string &path, const MinifyOptions &options, std::optional<bool> &fails) {
  if (!options.conversion->problem.empty())
    return options.conversion->problem;
  try {
    Session session(path, options);
    const FailureRate rate = session.check_original();
    options.listener.throw_if_interrupted();
    const Verdict &verdict = rate.verdict;
    if (const auto own = options_with_own_generator(session, rate))
      return verdict_words(path, *own, fails);
    if (verdict.eager_failed)
      return "eager itself failed: " + verdict.message;
    if (verdict.outcome == Verdict::Outcome::Unresolved)
      return "cannot be checked: " + verdict.message;
    fails = rate.failed >= options.repetition.need;
    return *fails ? "FAILS: " + to_string(verdict.signatures.front()) : "does not fail";
  } catch (const UserError &error) {
    return error.what();
  }
}

} // namespace

ConvertOptions convert_options(const MinifyOptions &options, ModelKind kind) {
  // Parameters are inputs of a program of calls, so that it has more of them than a user gives: those of a .pt2 are
  // known apart.
  const bool takes_inputs = options.inputs && kind == ModelKind::Export;
  const bool brings_its_inputs = (!options.inputs || takes_inputs) && options.input_specs.empty();
  return {.python = options.backend_options.python,
          .seed = options.check.seed,
          .graph = options.graph,
          .keeps_calls =
              brings_its_inputs && options.oracle.empty() && run_calls_of_python(split_backend_names(options.backends)),
          .weights_inside = take_weights_inside(split_backend_names(options.backends)),
          .inputs = brings_its_inputs && takes_inputs ? *options.inputs : "",
          .libraries = options.backend_options.libraries,
          .imports = options.backend_options.imports};
}

std::string problem_of(const Conversion &conversion) {
  return shown_path(conversion) + ": " + conversion.problem;
}

std::string none_fails(const std::string &path) {
  return path + ": none of its graphs fails; --graph N takes one of them";
}

std::vector<MinifyOptions> open_model(const std::string &path, const MinifyOptions &given) {
  MinifyOptions options = given;
  const ModelKind kind = recognise(path, reading_limits(options));
  require_backend(options, kind);
  if (options.graph > 0 && kind != ModelKind::Log)
    throw UserError("--graph: " + path + " is " + to_string(kind) + ", which has one graph; leave it out");
  if (kind == ModelKind::TorchScript)
    return {options};
  if (options.method != "forward")
    throw UserError("--method: " + path + " is " + to_string(kind) + ", which has forward alone; leave it out");
  std::vector<MinifyOptions> graphs;
  for (const Conversion &conversion : convert(path, kind, convert_options(options, kind), reading_limits(options)))
    graphs.push_back(with_conversion(options, conversion));
  if (graphs.size() > 1)
    return graphs;
  const Conversion &only = *graphs.front().conversion;
  if (!only.problem.empty())
    throw UserError(problem_of(only));
  options.listener.say(Severity::Info, shown_path(only) + ": " + to_string(only));
  return graphs;
}

std::optional<MinifyOptions> open_one_graph(const std::string &path, const MinifyOptions &options) {
  const auto graphs = open_model(path, options);
  if (graphs.size() == 1)
    return graphs.front();
  std::vector<MinifyOptions> failing;
  std::string names;
  bool any_is_known = false;
  for (const MinifyOptions &graph : graphs) {
    std::optional<bool> fails;
    const std::string words = verdict_words(path, graph, fails);
    const Conversion &conversion = *graph.conversion;
    options.listener.say(Severity::Info, "graph " + std::to_string(conversion.graph) + " (" + conversion.name + "), " +
                                             std::to_string(conversion.operators) + " operators: " + words);
    any_is_known |= fails.has_value();
    if (!fails.value_or(false))
      continue;
    names += (failing.empty() ? "" : ", ") + std::to_string(conversion.graph);
    failing.push_back(graph);
  }
  if (!any_is_known)
    throw UserError(path + ": none of its graphs could be checked");
  if (failing.empty())
    return std::nullopt;
  if (failing.size() > 1)
    throw UserError(path + ": graphs " + names + " fail; --graph N takes one of them");
  options.listener.say(Severity::Info, "graph " + names + ": " + to_string(*failing.front().conversion));
  return failing.front();
}

} // namespace repro_minify
