// The stages, one after the other.
#include "repro_minify/minify.h"

#include "backends/backend_registry.h"
#include "backends/in_python.h"
#include "core/files.h"
#include "core/programs.h"
#include "pipeline/minify_job.h"
#include "pipeline/open_model.h"
#include "program/compute.h"
#include "program/operator_libraries.h"
#include "program/read_inputs.h"
#include "reduce/journal.h"
#include "reduce/reduce_recorded.h"
#include "repro/results_folder.h"
#include "repro_minify/sandbox.h"

#include <torch/csrc/jit/passes/inliner.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace repro_minify {
namespace {

/// Takes over an earlier run's answers, and repairs what it was killed while writing.
void resume(MinifyJob &job, const std::string &journal) {
  job.session.keep_journal(journal, true);
  job.facts.resumed = static_cast<int>(job.session.journal->earlier());
  // That an earlier run has written it is what the folder says.
  if (const std::string reduced = job.folder + "/reduced.pt"; PlainFile::to_read(reduced)) {
    let_children_read(reduced);
    try_in_sandbox(
        reduced, "reading its inputs", [&](Child &) { inputs_inside(reduced); }, reading_limits(job.options()));
  }
  if (repair_saved(job.folder))
    job.say(Severity::Warning,
            job.folder + "/inputs.pt was not what reduced.pt was written with, and has been written again");
  job.say(Severity::Info, "resuming: " + std::to_string(job.facts.resumed) + " answers are in " + journal);
}

/// Keeps in the folder the libraries and modules that the repro needs, and what a model of another kind was converted
/// to: it is that model that fails.
void keep_what_came_along(const MinifyJob &job) {
  const auto &libraries = job.options().backend_options.libraries;
  const auto names = names_of_libraries(libraries);
  for (size_t i = 0; i < libraries.size(); ++i)
    write_atomically(job.folder + "/" + names[i], bytes_of(libraries[i]));
  for (const auto &module : files_of_modules(job.session))
    write_atomically(job.folder + "/" + fs::path(module).filename().string(), bytes_of(module));
  const auto &conversion = job.options().conversion;
  if (!conversion)
    return;
  write_atomically(job.folder + "/converted.pt", bytes_of(conversion->path));
  write_atomically(job.folder + "/converted_inputs.pt", bytes_of(conversion->inputs_path));
}

/// From here on there is something to keep.
void begin_journal(MinifyJob &job, const FailureRate &rate, const std::string &path) {
  Session &session = job.session;
  make_folder(job.folder);
  if (!session.journal) { // before all else: a folder that has anything in it, and no journal, cannot be resumed
    if (job.options().resume)
      job.say(Severity::Info, "--resume: there is no " + path + ", so the search begins anew");
    remove_earlier_results(job.folder);
    session.keep_journal(path, false);
  }
  if (job.options().settings)
    write_atomically(job.folder + "/config.toml", job.options().settings({}));
  keep_what_came_along(job);
  for (size_t run = 0; run < rate.each.size(); ++run)
    if (const std::string key = "original " + std::to_string(run + 1); !session.journal->find(key))
      session.journal->append(key, rate.each[run], "original", {}, true);
}

void take_down_original(MinifyJob &job, const FailureRate &rate) {
  const Repetition &repetition = job.options().repetition;
  job.facts.original = rate.verdict;
  job.facts.original_failed = rate.failed;
  job.facts.original_runs = rate.runs;
  job.facts.signature = rate.verdict.signatures.front();
  job.say(Severity::Info, job.session.shown_path() + " fails under " + clean(job.session.backend->name()) + ": " +
                              clean(to_string(job.facts.signature)) +
                              (rate.verdict.message.empty() ? "" : "\n  " + clean(rate.verdict.message)));
  if (rate.runs > 1)
    job.say(Severity::Info, "it fails in " + std::to_string(rate.failed) + " of " + std::to_string(rate.runs) +
                                " runs; a smaller program has to in " + std::to_string(repetition.need) + " of up to " +
                                std::to_string(repetition.runs));
}

/// Nothing where the model has to be handed back as it is; `not_reduced` says why.
std::optional<Flattened> flatten(MinifyJob &job) {
  Session &session = job.session;
  std::optional<std::string> &not_reduced = job.facts.not_reduced;
  try {
    if (auto flattened = flatten_model(session, job.facts.original)) {
      if (flattened->hidden_by)
        job.say(Severity::Info, *flattened->hidden_by + " hides the failure; blocks are kept as they are");
      return flattened;
    }
    not_reduced = "it fails as it is, but no longer once its calls are inlined and its attributes made inputs; "
                  "if it does not fail in every run, give --repeat N --need M; otherwise " +
                  std::string(advice_on_flattening);
  } catch (const CannotFlatten &error) {
    not_reduced = "it cannot be flattened: " + std::string(error.what()) + "; " + advice_on_flattening;
  } catch (const UserError &) {
    throw;
  } catch (const std::system_error &) { // the machine's trouble says nothing of the model
    throw;
  } catch (const std::exception &error) {
    not_reduced = "its values cannot be recorded: " + first_sentence(error.what()) + "; " + advice_on_flattening;
  }
  if (session.backend->traits().needs_flat_graph)
    throw UserError(session.shown_path() + ": cannot be reduced, and " + session.backend->name() +
                    " takes nothing else than a flat program: " + *not_reduced);
  return std::nullopt;
}

/// At no cost: the search has seen it. A candidate that cannot be saved is not worth a failure.
void save_passing(MinifyJob &job, const Reduction &reduction) {
  try {
    if (reduction.passing)
      save_program(*reduction.passing, job.folder, job.options().check.grad, "passing", /*durable=*/false);
    job.facts.has_passing = reduction.passing.has_value();
  } catch (const std::exception &error) {
    job.say(Severity::Detail, std::string("passing.pt: ") + first_sentence(error.what()));
  }
}

Result finished(MinifyJob &job, Result::Ending ending, Program program) {
  Result result;
  result.ending = ending;
  result.program = std::move(program);
  result.folder = job.folder;
  result.facts = std::move(job.facts);
  return result;
}

void hand_over_reduced(MinifyJob &job, Verifying &verifying, const Flattened &flattened, const Reduction &reduction) {
  collect_facts(job, reduction.program);
  collect_facts(job, flattened, reduction);
  save_passing(job, reduction);
  job.passing = reduction.passing;
  const ModuleFactory factory = factory_of(std::make_shared<Program>(reduction.program));
  hand_over(job, verifying, reduction.program, factory, reduction.interrupted);
}

/// A result that hangs on what memory holds can fail in every check and pass in repro.py: one worker serves many
/// checks, and its memory is not a new interpreter's.
bool fails_in_checks_alone(const MinifyJob &job) {
  return job.facts.backend->parts().repro_in_python && !job.facts.verified.value_or(true) &&
         !job.facts.script.verified.value_or(false) && // else it is repro.cpp alone that does not verify
         !job.options().listener.stops() && job.facts.signature.kind != FailureKind::Hang;
}

/// Saves the model without the failure, if that was asked for. What cannot be is said, and the result is none the less.
void save_rest(MinifyJob &job, const Flattened &flattened, Result &result) {
  const fs::path file = job.options().rest;
  if (file.empty() || result.facts.interrupted)
    return;
  job.session.phases.enter("rest");
  try {
    const RestOfModel rest = rest_of_model(job.session, flattened, *result.program, result.facts.signature);
    result.places = rest.places;
    if (!rest.program)
      return;
    save_program(*rest.program, file.parent_path().string(), job.options().check.grad, file.stem().string());
    result.rest = file.string();
  } catch (const Interrupted &) { // by a person, or as the time budget was spent
    (job.is_interrupted() ? result.facts.interrupted : result.facts.out_of_time) = true;
  } catch (const std::exception &error) {
    job.say(Severity::Warning, "the rest of the model: " + first_sentence(error.what()));
  }
}

Result reduce_and_hand_over(MinifyJob &job, const Flattened &flattened) {
  Verifying verifying(job);
  verifying.prepare();
  job.flattened = flattened;
  collect_facts(job, flattened.program); // as far as a picture needs them
  const ReproFacts before_the_search = job.facts;
  Reduction reduction = search(job, flattened);
  hand_over_reduced(job, verifying, flattened, reduction);
  if (fails_in_checks_alone(job)) {
    ReproFacts of_the_first = std::exchange(job.facts, before_the_search);
    if (auto again = search_for_what_shows_in_python(job, flattened, reduction)) {
      reduction = std::move(*again);
      Verifying verifying_again(job);
      hand_over_reduced(job, verifying_again, flattened, reduction);
    } else {
      job.facts = std::move(of_the_first);
    }
  }
  Result result = finished(job, Result::Ending::Minimised, std::move(reduction.program));
  save_rest(job, flattened, result);
  return result;
}

/// The graph that a person would look at; without values, it is no Program that can be run.
Program outline_of(const Session &session) {
  Program program;
  program.graph = session.model.module.get_method(session.model.method).graph()->copy();
  try {
    torch::jit::Inline(*program.graph);
  } catch (const std::exception &) { // as far as it goes
  }
  return program;
}

/// Hands back a model that cannot be reduced as it was given, with all else that a reduced program gets.
Result hand_back(MinifyJob &job) {
  job.say(Severity::Warning, job.session.shown_path() + ": NOT REDUCED: " + *job.facts.not_reduced);
  save_as_given(job.session.as_given(), job.folder);
  Program shown = outline_of(job.session);
  collect_facts(job, shown);
  job.facts.reduced = job.facts.original;
  job.facts.flatten_level = "not flattened";
  job.facts.before = job.facts.after = size_of(shown);
  Verifying verifying(job);
  hand_over(job, verifying, shown, job.session.original(), false);
  return finished(job, Result::Ending::HandedBack, std::move(shown));
}

/// With a listener that also asks for the end once the time budget is spent, as an interruption would: it ends whatever
/// is being done. Not before `begun`: what comes before the search has to be there for anything to be kept.
MinifyOptions within_budget(MinifyOptions options, std::chrono::steady_clock::time_point begin,
                            std::shared_ptr<const bool> begun) {
  if (options.time_budget_seconds <= 0)
    return options;
  const auto budget = std::chrono::duration<double>(options.time_budget_seconds);
  options.listener.interrupted = [by_user = options.listener.interrupted, begin, budget, begun = std::move(begun)] {
    return (by_user && by_user()) || (*begun && std::chrono::steady_clock::now() - begin >= budget);
  };
  return options;
}

/// Before hours of work.
void require_programs(const std::vector<std::string> &pythons) {
  for (const std::string &python : pythons)
    if (find_program(python).empty())
      throw UserError("--since " + python + ": there is no such program; name interpreters that have torch");
}

Result minify_in(const std::string &model_path, const MinifyOptions &asked,
                 std::chrono::steady_clock::time_point begin) {
  const auto search_begun = std::make_shared<bool>(false);
  const MinifyOptions given = within_budget(asked, begin, search_begun);
  const std::string journal = given.folder + "/journal.jsonl";
  require_known_backends(split_backend_names(given.backends)); // before a folder is complained of
  selected_passes(given.passes);
  require_programs(given.since);
  const bool resumes = given.resume && fs::exists(journal);
  require_free(given.folder, given.force || resumes);
  for (const std::string &file :
       {model_path, given.inputs.value_or(""), (fs::path(model_path).parent_path() / "inputs.pt").string()})
    require_no_result(file, given.folder);
  const auto opened = open_one_graph(model_path, given);
  if (!opened)
    return ended(Result::Ending::DoesNotFail, none_fails(model_path));
  const MinifyOptions &options = *opened;
  Session session(model_path, options);
  MinifyJob job{session, options.folder, begin, asked.listener.interrupted};
  job.facts.version = REPRO_MINIFY_VERSION;
  const ReproInPython *in_python = session.backend->parts().repro_in_python; // in a process that may have another
  job.facts.torch_version = in_python ? in_python->torch_version() : libtorch_version();
  const FailureRate rate = session.check_original();
  options.listener.throw_if_interrupted();
  if (const auto own = options_with_own_generator(session, rate))
    return minify_in(model_path, *own, begin);
  if (resumes)
    resume(job, journal);
  if (auto result = nothing_to_reduce(session, rate))
    return *result;
  warn_of_missing_reference(session, rate.verdict);
  begin_journal(job, rate, journal);
  if (auto result = oracle_is_unsure(session, rate))
    return *result;
  take_down_original(job, rate);
  session.phases.enter("flatten");
  const auto flattened = flatten(job);
  options.listener.throw_if_interrupted();
  *search_begun = true;
  return flattened ? reduce_and_hand_over(job, *flattened) : hand_back(job);
}

} // namespace

Result minify(const std::string &model_path, const MinifyOptions &options) {
  if (options.folder.empty())
    throw UserError("MinifyOptions::folder: names no folder to write the repro into");
  try {
    return minify_in(model_path, options, std::chrono::steady_clock::now());
  } catch (const Interrupted &) {
    return {};
  }
}

} // namespace repro_minify
