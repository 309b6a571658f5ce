// Check once, and say what came of it.
#include "backends/backend_registry.h"
#include "backends/in_python.h"
#include "cli/options.h"
#include "cli/progress_printer.h"
#include "cli/run_text.h"
#include "core/files.h"
#include "core/json.h"
#include "core/log.h"
#include "pipeline/convert.h"
#include "pipeline/minify_job.h"
#include "pipeline/open_model.h"
#include "program/compute.h"
#include "program/operator_libraries.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>

namespace repro_minify {
namespace {

/// The result of one backend.
struct Ran {
  int exit_code = 0;
  std::string json; ///< with --json; nothing else is printed then
};

/// Prints the stages that --dump-stage asks for: what is in the file now, and nothing of what later runs write. A child
/// process writes them to a file, as its standard error is not shown.
void print_dump(const std::string &file, std::ostream &out) {
  if (file.empty())
    return;
  out << std::ifstream(file).rdbuf() << std::flush;
  out.clear(); // an empty file is no error
}

/// A float64 run of a large model takes more memory than everything else together: of that the errors are measured only
/// where they decide.
bool is_small(const std::string &path) {
  constexpr std::uintmax_t most_bytes = 16 << 20;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error); // a folder has none
  return error || size <= most_bytes;
}

bool is_one_backend(const Options &options) {
  return split_backend_names(options.backends).size() <= 1;
}

/// One graph of the model. It is loaded for the first backend that can be used. The others have it from there, with
/// what eager did, unless it is one of several, which memory need not hold all at once.
struct OpenGraph {
  MinifyOptions options;
  bool is_shared = false; ///< with other backends
  std::optional<Loaded> loaded = {};

  Session session(const std::string &model, const MinifyOptions &how) {
    if (loaded)
      return Session(*loaded, how);
    Session first(model, how);
    if (is_shared)
      loaded = first.loaded();
    return first;
  }
};

Ran run_graph(OpenGraph &graph, const Options &options, ProgressPrinter &progress) {
  MinifyOptions how = graph.options;
  how.check.measure_always = is_small(options.model);
  Session session = graph.session(options.model, how);
  const FailureRate rate = session.check_original();
  if (const auto own = options_with_own_generator(session, rate)) {
    graph.options = *own;
    return run_graph(graph, options, progress);
  }
  progress.hide();
  print_dump(how.backend_options.dump_file, options.json ? std::cerr : std::cout);
  const Verdict &verdict = rate.verdict;
  require_checkable(session, verdict);
  if (verdict.eager_failed)
    log::error(eager_problem(session, verdict));
  warn_of_missing_reference(session, verdict);
  const RunFacts facts = run_facts(session, rate, options.timing.value_or(is_one_backend(options)));
  Ran ran{verdict.eager_failed ? EagerNotReproducible : rate.failed >= options.need ? 1 : 0, ""};
  progress.finish();
  if (options.json)
    ran.json = run_json(rate, facts, session);
  else
    std::cout << run_text(rate, facts, session, !is_one_backend(options));
  return ran;
}

json refusal(const Options &options, const std::string &backend, const std::string &why) {
  return {{"model", options.model}, {"backend", backend}, {"refused", why}, {"unreadable", false}};
}

std::string text_of(const json &value) {
  return value.dump(2, ' ', true, json::error_handler_t::replace);
}

/// One graph of several that cannot be converted, or checked, says nothing about the others.
Ran run_graph_of_several(OpenGraph &graph, const Options &options, ProgressPrinter &progress) {
  const MinifyOptions &how = graph.options;
  try {
    if (!how.conversion->problem.empty())
      throw UserError(problem_of(*how.conversion));
    return run_graph(graph, options, progress);
  } catch (const UserError &error) {
    log::error(error.what());
    json refused = refusal(options, how.backends.front(), error.what());
    refused["graph"] = how.conversion->graph;
    return {BadInput, text_of(refused)};
  }
}

/// Without an answer for one of the backends, or graphs, the whole has none, unless another fails.
int exit_code_of(const std::vector<Ran> &all) {
  int code = 0;
  for (const Ran &ran : all) {
    if (ran.exit_code == 1)
      return 1;
    code = std::max(code, ran.exit_code);
  }
  return code;
}

/// The model under one backend after the other.
class Runs {
public:
  explicit Runs(const Options &options)
      : options_(options), progress_(options.quiet, factory_of(options)), how_(minify_options(options, progress_)) {
    if (!how_.backend_options.dumped_stages.empty())
      how_.backend_options.dump_file = folder_.emplace() / "stages";
  }

  /// Under the one that the options name. Throws UserError for a model that cannot be opened, as under() does.
  Ran under_the_only_backend() { return ran(form_for(split_backend_names(how_.backends))); }

  Ran under(const std::string &backend) {
    std::vector<OpenGraph> &graphs = form_for({backend});
    for (OpenGraph &graph : graphs)
      graph.options.backends = {backend};
    return ran(graphs);
  }

private:
  /// Returns the graphs of the model in the form that these backends take: calls of torch.fx, or TorchScript.
  std::vector<OpenGraph> &form_for(const std::vector<std::string> &backends) {
    const std::pair kind(run_calls_of_python(backends), take_weights_inside(backends));
    for (Form &form : forms_)
      if (form.kind == kind || !form.graphs.front().options.conversion)
        return form.graphs;
    MinifyOptions how = how_;
    how.backends = backends;
    const auto graphs = open_model(options_.model, how);
    const bool is_shared = graphs.size() == 1 && !is_one_backend(options_);
    Form &form = forms_.emplace_back(Form{kind, {}});
    for (const MinifyOptions &graph : graphs)
      form.graphs.push_back({graph, is_shared});
    return form.graphs;
  }

  Ran ran(std::vector<OpenGraph> &graphs) {
    if (folder_)
      std::ofstream(how_.backend_options.dump_file).flush(); // it has to be there, empty
    if (graphs.size() == 1)
      return run_graph(graphs.front(), options_, progress_);
    std::vector<Ran> all;
    std::string json;
    for (OpenGraph &graph : graphs) {
      graph.options.listener.throw_if_interrupted();
      all.push_back(run_graph_of_several(graph, options_, progress_));
      json += (json.empty() ? "[" : ",") + all.back().json;
    }
    return {exit_code_of(all), options_.json ? json + "]" : ""};
  }

  struct Form {
    std::pair<bool, bool> kind; ///< calls of torch.fx, with weights inside
    std::vector<OpenGraph> graphs;
  };

  const Options &options_;
  ProgressPrinter progress_;
  std::optional<TemporaryFolder> folder_; ///< of what --dump-stage asks for
  MinifyOptions how_;
  std::vector<Form> forms_;
};

bool is_refused(const std::function<void()> &reading) {
  try {
    reading();
    return false;
  } catch (const UserError &) {
    return true;
  }
}

/// True if the model is to blame whatever the backend: it is none, or damaged, or has no inputs. A missing library of
/// operators, or a missing Python to convert the model with, is not its fault.
bool is_unreadable(const Options &options) {
  ProgressPrinter progress(/*quiet=*/true, factory_of(options));
  MinifyOptions how;
  if (is_refused([&] {
        how = minify_options(options, progress);
        load_operator_libraries(how.backend_options.libraries);
      }))
    return false;
  const Limits limits = reading_limits(how);
  ModelKind kind = ModelKind::TorchScript;
  if (is_refused([&] { kind = recognise(options.model, limits); }))
    return true;
  if (kind != ModelKind::TorchScript)
    return !find_python_with_torch(how.backend_options.python).empty() &&
           is_refused([&] { open_model(options.model, how); });
  return is_refused([&] {
    const LoadedModel model = load_model(options.model, how.method, how.check.seed, how.train, c10::kCPU, limits);
    load_inputs(model, {.specs = how.input_specs, .inputs_path = how.inputs, .seed = how.check.seed}, limits);
  });
}

/// For one that has no row of its own.
std::string refused_row(const Options &options, const std::string &backend, const std::string &why) {
  json row = refusal(options, backend, why);
  row["unreadable"] = !stop_requested() && is_unreadable(options);
  return text_of(row);
}

Ran refused(const Options &options, const std::string &backend, const ErrorReport &error) {
  log::error(error.sentence);
  const int code = error.is_users ? BadInput : InternalError;
  return {code, options.json ? refused_row(options, backend, error.sentence) : ""};
}

/// A backend that cannot be used, or has no support for the model, says nothing about the others; nor does an error of
/// our own under it. A model that cannot be opened has none to answer, and is opened again for each: what was missing
/// may be there by then.
Ran run_one_of_several(std::optional<Runs> &runs, const Options &options, const std::string &backend) {
  try {
    if (!runs)
      runs.emplace(options);
    return runs->under(backend);
  } catch (const std::exception &) {
    return refused(options, backend, report_of(std::current_exception()));
  }
}

Ran run_under_the_only_backend(const Options &options, const std::string &backend) {
  try {
    require_known_backends(split_backend_names(options.backends));
    return Runs(options).under_the_only_backend();
  } catch (const std::exception &) {
    if (options.json)
      std::cout << refused_row(options, backend, report_of(std::current_exception()).sentence) << std::endl;
    throw;
  }
}

/// With --json, the rows of several backends. What was begun is ended, whatever is thrown between.
class Rows {
public:
  explicit Rows(bool is_json) : is_json_(is_json) {}
  Rows(const Rows &) = delete;
  Rows &operator=(const Rows &) = delete;
  ~Rows() {
    if (is_json_)
      std::cout << (all_.empty() ? "[]" : "]") << std::endl;
  }

  /// Prints it as soon as it is known: what crashes later cannot take it along.
  void add(const Ran &ran) {
    if (is_json_)
      std::cout << (all_.empty() ? "[" : ",") << ran.json << std::endl;
    all_.push_back(ran);
  }
  const std::vector<Ran> &all() const { return all_; }

private:
  bool is_json_;
  std::vector<Ran> all_;
};

} // namespace

int run_command(const Options &options) {
  const auto names = split_backend_names(options.backends);
  if (names.size() <= 1) {
    const Ran ran = run_under_the_only_backend(options, names.empty() ? "" : names.front());
    if (options.json)
      std::cout << ran.json << '\n';
    return ran.exit_code;
  }
  std::optional<Runs> runs;
  Rows rows(options.json);
  for (const auto &name : names)
    rows.add(run_one_of_several(runs, options, name));
  return exit_code_of(rows.all());
}

} // namespace repro_minify
