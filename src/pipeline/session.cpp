#include "repro_minify/session.h"

#include "backends/backend_registry.h"
#include "check/compare_runs.h"
#include "check/kept_runs.h"
#include "check/unresolved.h"
#include "pipeline/minify_job.h"
#include "pipeline/open_model.h"
#include "program/compute.h"
#include "program/operator_libraries.h"
#include "program/shared_pages.h"
#include "program/surgery.h"
#include "program/tracer.h"
#include "program/values.h"
#include "reduce/journal.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/sandbox.h"
#include "tasks/limits.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace repro_minify {
namespace {

/// CUDA is first touched in a child, this question included.
void require_usable(const std::string &name, c10::Device device) {
  if (device.is_cpu())
    return;
  const auto answer = compute_in_child([&](Child &) -> c10::IValue { return why_unusable(device); }, generous_limits());
  if (!answer.toStringRef().empty())
    throw UserError("--device " + name + ": " + answer.toStringRef());
}

/// Warns if this machine cannot fully confine what a model runs. With --require-confinement it throws UserError.
void tell_of_confinement(const MinifyOptions &options) {
  const std::string &missing = missing_confinement();
  if (missing.empty())
    return;
  if (options.require_confinement)
    throw UserError("--require-confinement: " + missing);
  options.listener.say(Severity::Warning, missing + "; --require-confinement refuses");
}

CheckOptions check_options_of(const MinifyOptions &options) {
  CheckOptions check = options.check;
  tell_of_confinement(options);
  // Where luck has a say it must not pass a random program off as a reproducible one.
  if (options.repetition.runs > 1)
    check.eager_calls = std::max(16, 2 * options.repetition.runs);
  require_usable(check.device.str(), check.device);
  return check;
}

std::shared_ptr<const Backend> started(std::shared_ptr<const Backend> backend) {
  if (const std::string problem = unusable_because(*backend); !problem.empty())
    throw UserError("--backend " + backend->name() + ": " + problem);
  start_backend(*backend);
  return backend;
}

/// All that --backend names, in that order.
std::vector<std::shared_ptr<const Backend>> backends_of(const MinifyOptions &options, const std::string &oracle) {
  if (!oracle.empty())
    return {oracle_backend(oracle)};
  BackendOptions backend_options = options.backend_options;
  backend_options.message = options.listener.message;
  backend_options.interrupted = options.listener.interrupted;
  std::vector<std::shared_ptr<const Backend>> backends;
  for (const auto &name : split_backend_names(options.backends))
    backends.push_back(started(make_backend(name, backend_options)));
  return backends;
}

InterestingnessTest test_of(const Session &session) {
  return session.oracle.empty() ? interestingness_test(session.backend, session.check)
                                : external_oracle(session.oracle, session.options.folder, session.options.check.grad);
}

/// The longest time that the first check is waited for, unless the user sets another limit.
constexpr double longest_check_seconds = 1800;

/// A candidate hangs where the optimised side takes so many times what eager takes.
constexpr double times_eager = 100;

/// The limit of the optimised side where it is not wanted.
constexpr double eager_is_enough_seconds = 0.001;

bool is_hang(const Verdict &verdict) {
  return verdict.outcome == Verdict::Outcome::Fail && verdict.signatures.front().kind == FailureKind::Hang;
}

/// Before the first check, and before the code that calls its operators is compiled.
const MinifyOptions &with_libraries(const MinifyOptions &options) {
  load_operator_libraries(options.backend_options.libraries);
  return options;
}

/// Loads the model. An error in a converted model names the file that it was converted from.
LoadedModel load(const std::string &given, const MinifyOptions &options, const CheckOptions &check) {
  const std::string path = options.conversion ? options.conversion->path : given;
  try {
    return load_model(path, options.method, check.seed, options.train, check.device, reading_limits(options));
  } catch (const UserError &error) {
    const std::string text = error.what();
    if (options.conversion && text.rfind(path, 0) == 0)
      throw UserError(shown_path(*options.conversion) + ", converted" + text.substr(path.size()));
    throw;
  }
}

/// Nothing is known yet of how long a run takes.
Limits flattening_limits(const MinifyOptions &options) {
  Limits limits = generous_limits();
  if (options.timeout_seconds > 0)
    limits.timeout = limit_of(options.timeout_seconds);
  return limits;
}

/// TorchScript's loader drops writes to what it takes for fresh (instantiate()): a flat program that is saved and
/// loaded has to know which results are not. One run tells.
Program with_hidden_aliases(const Session &session, const Program &flat) {
  if (!session.backend->traits().loads_what_was_saved || !writes_to_something(*flat.graph))
    return flat;
  try {
    return session.recording_of(flat, flattening_limits(session.options)).program;
  } catch (const std::system_error &error) { // whether it can be recorded is not known
    if (error.code() != std::errc::not_enough_memory)
      throw;
    return flat;
  } catch (const std::runtime_error &) { // what cannot be recorded can still be checked
    return flat;
  }
}

/// Returns a key of what a flat program depends on beside the model.
std::string form_of_flat(const Session &session) {
  return std::string("flat") + (session.backend->traits().loads_what_was_saved ? ", saved" : "") +
         (session.settings().autocast ? ", under autocast" : "");
}

} // namespace

Session::Session(const std::string &model_path, MinifyOptions given)
    : Session(std::move(given), model_path, /*loaded=*/nullptr) {}

Session::Session(const Loaded &loaded, MinifyOptions given) : Session(std::move(given), loaded.model.path, &loaded) {}

Session::Session(MinifyOptions given, const std::string &model_path, const Loaded *loaded)
    : options(std::move(given)), oracle(options.oracle.empty() ? std::string() : require_executable(options.oracle)),
      others(backends_of(with_libraries(options), oracle)), backend(others.front()), check(check_options_of(options)),
      test(test_of(*this)), model(loaded ? loaded->model : load(model_path, options, check)) {
  phases.tell(options.listener.phase);
  if (loaded) {
    eager_memo_ = loaded->eager;
    flat_ = loaded->flat;
  } else {
    flat_ = std::make_shared<std::map<std::string, std::shared_ptr<const Program>>>();
  }
  for (const auto &each : others)
    if (options.train && each->traits().needs_eval)
      throw UserError("--train: " + each->name() + " takes models in eval mode only");
  if (loaded)
    inputs = loaded->inputs;
  else
    load_inputs_of_model();
  for (const auto &each : others) // started while the model was read; the first check needs them
    await_backend(*each);
  others.erase(others.begin());
}

void Session::load_inputs_of_model() {
  inputs = load_inputs(
      model,
      {.specs = options.input_specs, .inputs_path = options.inputs, .seed = check.seed, .requires_grad = check.grad},
      reading_limits(options));
  if (options.conversion && options.input_specs.empty() && !options.inputs)
    inputs.origin = options.conversion->data;
  share_pages(model.module);
  for (const auto &value : inputs.values)
    for_each_tensor(value, [](const at::Tensor &tensor) { share_pages(tensor); });
  if (!inputs.note.empty())
    options.listener.say(Severity::Warning, inputs.note);
}

Loaded Session::loaded() {
  if (!eager_memo_)
    eager_memo_ = std::make_shared<EagerMemo>();
  return {model, inputs, eager_memo_, flat_};
}

std::string Session::shown_path() const {
  return options.conversion ? repro_minify::shown_path(*options.conversion) : model.path;
}

Archive Session::as_given() const {
  return {model.path, inputs.values, check.seed, options.train, model.method, model.module};
}

/// Throws CannotFlatten.
std::shared_ptr<const Program> Session::flat() const {
  std::shared_ptr<const Program> &flat = (*flat_)[form_of_flat(*this)];
  if (!flat) {
    const Program given = flatten_or_trace(model, inputs.values, settings(), flattening_limits(options)).first;
    flat = std::make_shared<const Program>(with_hidden_aliases(*this, given));
  }
  return flat;
}

/// Null where the model is checked as it is.
std::shared_ptr<const Program> Session::flat_original() const {
  if (model.method == "forward" && !backend->traits().needs_flat_graph)
    return nullptr;
  try {
    return flat();
  } catch (const CannotFlatten &error) {
    if (backend->traits().needs_flat_graph)
      throw cannot_flatten(*this, error);
    return nullptr;
  }
}

ModuleFactory Session::original() const {
  if (const auto flat = flat_original())
    return factory_for(flat, *backend);
  return [given = as_given()](const InstantiateOptions &how) { return instantiate(given, how); };
}

/// Where this check finds what eager did for another, or leaves it; empty: nowhere.
std::string Session::kept_eager() const {
  if (!eager_memo_ || options.repetition.runs > 1) // each run is on its own there
    return "";
  const std::string in_parts = backend->traits().needs_flat_graph ? "" : ", in parts";
  return eager_memo_->file_for(flat_original() ? form_of_flat(*this) + in_parts : "as given", *backend, check);
}

FailureRate Session::check_original() {
  phases.enter("original check");
  FailureRate rate;
  while (rate.runs < options.repetition.runs && !(rate.runs > 0 && options.listener.stops())) {
    ++rate.runs;
    const Verdict verdict = check_once(rate.runs);
    original_seconds_ = std::max(original_seconds_, verdict.wall_seconds);
    if (is_hang(verdict))
      eager_seconds_ = std::max(eager_seconds_.value_or(0), warm_eager_seconds(verdict));
    rate.each.push_back(verdict);
    if (verdict.outcome == Verdict::Outcome::Unresolved) {
      rate.verdict = verdict;
      return rate;
    }
    if (verdict.outcome == Verdict::Outcome::Fail && rate.failed == 0) {
      rate.verdict = verdict;
      rate.failed = 1;
    } else if (rate.failed > 0) {
      rate.failed += shows(verdict, rate.verdict.signatures.front(), options.same_failure);
    } else {
      rate.verdict = verdict;
    }
  }
  return rate;
}

Verdict Session::check_once(int run) {
  const Verdict *known = journal ? journal->find("original " + std::to_string(run)) : nullptr;
  if (known)
    return *known;
  return check_model({backend->traits().patience_seconds});
}

/// Returns what eager takes on a machine that has just run it: the very first time, files are read that are in memory
/// from then on, and a limit that is a multiple of that would be many times too long for each candidate.
double Session::warm_eager_seconds(const Verdict &hang) {
  const bool is_short = times_eager * hang.eager_seconds <= least_limit_of_a_hang();
  if (is_short || options.timeout_seconds > 0 || !oracle.empty())
    return hang.eager_seconds;
  const Verdict again = check_model(Patience{eager_is_enough_seconds, 0});
  return is_hang(again) ? std::min(hang.eager_seconds, again.eager_seconds) : hang.eager_seconds;
}

/// Nothing is known yet of how long a run takes: eager's own time says what the optimised side may take.
Verdict Session::check_model(const Patience &patience) {
  CheckOptions how = check;
  Limits limits;
  limits.memory_bytes = memory_limit(options);
  limits.interrupted = options.listener.interrupted;
  std::string kept;                         // not where eager's own time is part of the limit
  double seconds = options.timeout_seconds; // a limit that was given is kept to
  if (seconds <= 0) {
    kept = kept_eager();
    seconds = longest_check_seconds;
    how.patience = patience;
    limits.allow_for_load = true;
  }
  limits.timeout = limit_of(seconds);
  const Job job = oracle.empty() ? check_job(original(), backend, how, kept) : ask_oracle(oracle, model.path);
  const Verdict verdict = answer_to(test, job, limits);
  return options.memory_bytes > 0 ? verdict : unless_memory_is_short(verdict, limits.memory_bytes);
}

Recording Session::recording_of(const Program &program, const Limits &limits) const {
  try {
    return record(program, settings(), limits);
  } catch (const std::runtime_error &) {
    options.listener.throw_if_interrupted();
    throw;
  }
}

Verdict Session::answer_to(const Job &job, const Limits &limits) const {
  return answer_to(test, job, limits);
}

Verdict Session::answer_to(const InterestingnessTest &asked, const Job &job, const Limits &limits) const {
  const auto once = [&] {
    Verdict verdict = asked.verdict_of(run_in_sandbox(job, limits));
    options.listener.throw_if_interrupted();
    return verdict;
  };
  return ask_until_answered(once, asked.revive);
}

void Session::keep_journal(const std::string &path, bool resume) {
  journal = std::make_shared<Journal>(path, identity_of(*this), resume);
}

Verdict Session::ask(const Program &program, const Signature &wanted) {
  const std::string key = canonical_hash(program);
  if (const Verdict *known = journal ? journal->find(key) : nullptr)
    return *known;
  const auto is_wanted = [&](const Verdict &verdict) { return shows(verdict, wanted, options.same_failure); };
  const Job job = test.job(std::make_shared<Program>(program));
  const Verdict verdict = check_repeatedly([&] { return answer_to(job, limits()); }, is_wanted, options.repetition);
  if (journal && !verdict.no_answer)
    journal->append(key, verdict, "flatten", size_of(program), is_wanted(verdict));
  return verdict;
}

double Session::least_limit_of_a_hang() const {
  return std::max(5.0, backend->traits().patience_seconds / 12);
}

Limits Session::limits() const {
  Limits limits;
  const double seconds = options.timeout_seconds > 0 ? options.timeout_seconds
                         : eager_seconds_            ? std::max(least_limit_of_a_hang(), times_eager * *eager_seconds_)
                                                     : std::max(10.0, 10 * original_seconds_);
  limits.timeout = limit_of(seconds);
  // In the search for a hang, a busy moment would make any candidate one, even if the user has set the limit.
  limits.allow_for_load = options.timeout_seconds <= 0 || eager_seconds_;
  limits.memory_bytes = memory_limit(options);
  limits.interrupted = options.listener.interrupted;
  return limits;
}

Limits Session::confirming_limits(const Signature &wanted) const {
  Limits result = limits();
  if (wanted.kind == FailureKind::Hang)
    result.timeout /= 2;
  return result;
}

RunSettings Session::settings() const {
  return run_settings(*backend, check);
}

BisectOptions bisect_options_of(const Session &session, const Signature &wanted) {
  const Listener &listener = session.options.listener;
  BisectOptions how;
  how.check = session.check;
  how.limits = session.confirming_limits(wanted);
  how.wanted = wanted;
  how.same_failure = session.options.same_failure;
  how.repetition = session.options.repetition;
  how.interrupted = listener.interrupted;
  if (listener.count)
    how.progress = [&listener](int done) { listener.count("bisect", done, 0); };
  return how;
}

} // namespace repro_minify
