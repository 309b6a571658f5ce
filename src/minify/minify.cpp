// The stages, one after the other.
#include "repro_minify/minify.h"

#include "backends/backend_list.h"
#include "emit/atomic_file.h"
#include "emit/results_folder.h"
#include "minify/head_start.h"
#include "minify/open_model.h"
#include "minify/original.h"
#include "minify/output_folder.h"
#include "minify/reading_limits.h"
#include "minify/work.h"
#include "program/compute.h"
#include "program/operator_libraries.h"
#include "program/read_inputs.h"
#include "program/rehearsal.h"
#include "reduce/journal.h"
#include "reduce/selected_passes.h"
#include "repro_minify/confinement.h"
#include "support/plain_file.h"

#include <torch/csrc/jit/passes/inliner.h>
#include <torch/version.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// Takes over an earlier run's answers, and repairs what it was killed while writing.
void resume(Work &work, const std::string &journal) {
  work.session.keep_journal(journal, true);
  work.facts.resumed = static_cast<int>(work.session.journal->earlier());
  // That an earlier run has written it is what the folder says.
  if (const std::string reduced = work.folder + "/reduced.pt"; PlainFile::to_read(reduced)) {
    let_children_read(reduced);
    rehearse(
        reduced, "reading its inputs", [&](Child &) { inputs_inside(reduced); }, reading_limits(work.options()));
  }
  if (repair_saved(work.folder))
    work.say(Severity::Warning,
             work.folder + "/inputs.pt was not what reduced.pt was written with, and has been written again");
  work.say(Severity::Info, "resuming: " + std::to_string(work.facts.resumed) + " answers are in " + journal);
}

/// Keeps in the folder the libraries that the repro needs, and what a model of another kind was converted to: it is
/// that model that fails.
void keep_what_came_along(const Work &work) {
  const auto &libraries = work.options().backend_options.libraries;
  const auto names = names_of_libraries(libraries);
  for (size_t i = 0; i < libraries.size(); ++i)
    write_atomically(work.folder + "/" + names[i], bytes_of(libraries[i]));
  const auto &conversion = work.options().conversion;
  if (!conversion)
    return;
  write_atomically(work.folder + "/converted.pt", bytes_of(conversion->path));
  write_atomically(work.folder + "/converted_inputs.pt", bytes_of(conversion->inputs_path));
}

/// From here on there is something to keep.
void begin_journal(Work &work, const FailureRate &rate, const std::string &path) {
  Session &session = work.session;
  make_folder(work.folder);
  if (!session.journal) { // before all else: a folder that has anything in it, and no journal, cannot be resumed
    remove_earlier_results(work.folder);
    session.keep_journal(path, false);
  }
  if (!work.options().settings.empty())
    write_atomically(work.folder + "/config.toml", work.options().settings);
  keep_what_came_along(work);
  for (size_t run = 0; run < rate.each.size(); ++run)
    if (const std::string key = "original " + std::to_string(run + 1); !session.journal->find(key))
      session.journal->append(key, rate.each[run], "original", {}, true);
}

void take_down_original(Work &work, const FailureRate &rate) {
  const Repetition &repetition = work.options().repetition;
  work.facts.original = rate.verdict;
  work.facts.original_failed = rate.failed;
  work.facts.original_runs = rate.runs;
  work.facts.signature = rate.verdict.signatures.front();
  work.say(Severity::Info, work.session.shown_path() + " fails under " + work.session.backend->name() + ": " +
                               to_string(work.facts.signature) +
                               (rate.verdict.message.empty() ? "" : "\n  " + rate.verdict.message));
  if (rate.runs > 1)
    work.say(Severity::Info, "it fails in " + std::to_string(rate.failed) + " of " + std::to_string(rate.runs) +
                                 " runs; a smaller program has to in " + std::to_string(repetition.need) +
                                 " of up to " + std::to_string(repetition.runs));
}

/// Nothing where the model has to be handed back as it is; `not_reduced` says why.
std::optional<Flattened> flatten(Work &work) {
  Session &session = work.session;
  std::optional<std::string> &not_reduced = work.facts.not_reduced;
  try {
    if (auto flattened = flatten_model(session, work.facts.original)) {
      if (flattened->hidden_by)
        work.say(Severity::Info, *flattened->hidden_by + " hides the failure; blocks are kept as they are");
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
void save_passing(Work &work, const Reduction &reduction) {
  try {
    if (reduction.passing)
      save_program(*reduction.passing, work.folder, work.options().check.grad, "passing", /*durable=*/false);
    work.facts.has_passing = reduction.passing.has_value();
  } catch (const std::exception &error) {
    work.say(Severity::Detail, std::string("passing.pt: ") + first_sentence(error.what()));
  }
}

Result finished(Work &work, Result::Ending ending, Program program) {
  Result result;
  result.ending = ending;
  result.program = std::move(program);
  result.folder = work.folder;
  result.facts = std::move(work.facts);
  return result;
}

void hand_over_reduced(Work &work, Verifying &verifying, const Flattened &flattened, const Reduction &reduction) {
  collect_facts(work, reduction.program);
  collect_facts(work, flattened, reduction);
  save_passing(work, reduction);
  work.passing = reduction.passing;
  const Subject subject = subject_of(std::make_shared<Program>(reduction.program));
  hand_over(work, verifying, reduction.program, subject, reduction.interrupted);
}

/// A result that hangs on what memory holds can fail in every check and pass in repro.py: one worker serves many
/// checks, and its memory is not a new interpreter's.
bool fails_in_checks_alone(const Work &work) {
  return work.facts.backend->parts().repro_in_python && !work.facts.verified.value_or(true) &&
         !work.options().listener.stops() && work.facts.signature.kind != FailureKind::Hang;
}

Result reduce_and_hand_over(Work &work, const Flattened &flattened) {
  Verifying verifying(work);
  verifying.prepare();
  work.flattened = flattened;
  collect_facts(work, flattened.program); // as far as a picture needs them
  const ReproFacts before_the_search = work.facts;
  Reduction reduction = search(work, flattened);
  hand_over_reduced(work, verifying, flattened, reduction);
  if (fails_in_checks_alone(work)) {
    ReproFacts of_the_first = std::exchange(work.facts, before_the_search);
    if (auto again = search_for_what_shows_in_python(work, flattened, reduction)) {
      reduction = std::move(*again);
      Verifying verifying_again(work);
      hand_over_reduced(work, verifying_again, flattened, reduction);
    } else {
      work.facts = std::move(of_the_first);
    }
  }
  return finished(work, Result::Ending::Minimised, std::move(reduction.program));
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
Result hand_back(Work &work) {
  work.say(Severity::Warning, work.session.shown_path() + ": NOT REDUCED: " + *work.facts.not_reduced);
  save_as_given(work.session.as_given(), work.folder);
  Program shown = outline_of(work.session);
  collect_facts(work, shown);
  work.facts.reduced = work.facts.original;
  work.facts.flatten_level = "not flattened";
  work.facts.before = work.facts.after = size_of(shown);
  Verifying verifying(work);
  hand_over(work, verifying, shown, work.session.original(), false);
  return finished(work, Result::Ending::HandedBack, std::move(shown));
}

Result does_not_fail(std::string why) {
  Result result;
  result.ending = Result::Ending::DoesNotFail;
  result.why = std::move(why);
  return result;
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

Result minify_in(const std::string &model_path, const MinifyOptions &asked) {
  const auto begin = std::chrono::steady_clock::now();
  const auto search_begun = std::make_shared<bool>(false);
  const MinifyOptions given = within_budget(asked, begin, search_begun);
  const std::string journal = given.folder + "/journal.jsonl";
  require_known_backends(split_backend_names(given.backends)); // before a folder is complained of
  selected_passes(given.passes);
  const bool resumes = given.resume && fs::exists(journal);
  require_free(given.folder, given.force || resumes);
  const auto opened = open_one_graph(model_path, given);
  if (!opened)
    return does_not_fail(none_fails(model_path));
  const MinifyOptions &options = *opened;
  Session session(model_path, options);
  Work work{session, options.folder, begin, asked.listener.interrupted};
  work.facts.version = REPRO_MINIFY_VERSION;
  work.facts.torch_version = TORCH_VERSION;
  if (resumes)
    resume(work, journal);
  session.phases.enter("original check");
  const FailureRate rate =
      session.check_original([&](const std::function<bool()> &is_over) { take_head_start(session, is_over); });
  drop_head_start_unless_wanted(session, rate.verdict);
  options.listener.throw_if_interrupted();
  if (auto result = nothing_to_reduce(session, rate))
    return *result;
  warn_of_missing_reference(session, rate.verdict);
  begin_journal(work, rate, journal);
  if (auto result = oracle_is_unsure(session, rate))
    return *result;
  take_down_original(work, rate);
  session.phases.enter("flatten");
  const auto flattened = flatten(work);
  options.listener.throw_if_interrupted();
  *search_begun = true;
  return flattened ? reduce_and_hand_over(work, *flattened) : hand_back(work);
}

} // namespace

Result minify(const std::string &model_path, const MinifyOptions &options) {
  if (options.folder.empty())
    throw UserError("MinifyOptions::folder: names no folder to write the repro into");
  try {
    return minify_in(model_path, options);
  } catch (const Interrupted &) {
    return {};
  }
}

} // namespace repro_minify
