// The search, as a Session asks for it.
#include "check/leaf_showing.h"
#include "minify/save_now_and_then.h"
#include "minify/work.h"
#include "program/compute.h"
#include "reduce/add_up.h"
#include "reduce/reduce_recorded.h"
#include "reduce/reloaded.h"

#include <algorithm>
#include <utility>

namespace repro_minify {
namespace {

/// The stages after the search have to have its share of the time budget, or what was found could not be verified.
double seconds_for_search(const Work &work) {
  constexpr double most_for_the_rest = 30;
  const double budget = work.options().time_budget_seconds;
  return std::max(0.001, budget - std::min(budget / 3, most_for_the_rest) - work.seconds_so_far());
}

ReduceOptions reduce_options_of(Work &work, std::shared_ptr<Journal> journal) {
  const MinifyOptions &options = work.options();
  ReduceOptions how;
  how.same_failure = options.same_failure;
  how.repetition = options.repetition;
  how.limits = work.session.limits();
  how.jobs = options.jobs;
  how.begun = std::exchange(work.session.begun, nullptr);
  how.journal = std::move(journal);
  how.passes = options.passes;
  if (options.time_budget_seconds > 0)
    how.time_budget_seconds = seconds_for_search(work);
  how.interrupted = options.listener.interrupted;
  work.course.clear();
  how.progress = [&work](const Progress &now) {
    note_progress(work.course, now);
    if (work.options().listener.progress)
      work.options().listener.progress(now);
  };
  how.on_phase = [&session = work.session](const std::string &phase) { session.phases.enter(phase); };
  return how;
}

/// True if the picture can be begun, with three quarters of the operators gone: by then the checks that take long are
/// over, and what is left to ask leaves processors idle.
bool is_time_for_picture(const Work &work, const Flattened &flattened, const Program &best) {
  return !work.picture && !work.has_oracle() && work.options().jobs > 1 && work.session.check.device.is_cpu() &&
         4 * size_of(best).operators <= size_of(flattened.program).operators;
}

void say_what_came_of(const Work &work, const Reduction &reduction) {
  work.options().listener.say_finished();
  if (work.options().listener.reduced)
    work.options().listener.reduced(reduction);
  for (const auto &pass : reduction.passes)
    if (!pass.problem.empty())
      work.say(Severity::Warning, "pass " + pass.pass + " ended early: " + first_sentence(pass.problem));
  for (const auto &reason : reduction.not_shown_because)
    work.say(Severity::Warning, "not shown to be 1-minimal: " + reason);
}

Reduction search_once(Work &work, const Flattened &flattened, const InterestingnessTest &test,
                      std::shared_ptr<Journal> journal, std::function<bool(const Program &)> also_required = nullptr) {
  ReduceOptions how = reduce_options_of(work, std::move(journal));
  how.also_required = std::move(also_required);
  if (const auto &begun = work.options().listener.begun)
    begun(flattened.before);
  SaveNowAndThen save(work.folder, work.options().check.grad);
  how.on_improved = [&](const Program &program) {
    try {
      save(program);
    } catch (const std::exception &error) { // the next one may find room; the last one is saved once more
      work.say(Severity::Detail, "the best so far is not saved: " + first_sentence(error.what()));
    }
    if (is_time_for_picture(work, flattened, program))
      begin_picture(work);
  };
  // An oracle of the user's own has settings of its own.
  const auto recording = work.has_oracle() ? nullptr : flattened.recording;
  Reduction reduction =
      reduce_recorded(flattened.program, recording, flattened.verdict, work.facts.signature, test, how);
  if (reduction.interrupted && !work.is_interrupted()) { // the time budget was spent unseen
    reduction.interrupted = false;
    reduction.out_of_time = true;
    reduction.not_shown_because = {"the time budget was spent"};
  }
  say_what_came_of(work, reduction);
  return reduction;
}

/// Once more, with each candidate checked as its file has it. The journal is about the others: a run that is killed
/// here comes back to this point.
Reduction search_as_saved(Work &work, const Flattened &flattened, Reduction reduction) {
  const Session &session = work.session;
  work.say(Severity::Info,
           "the reduced program no longer fails once it is saved and loaded; reducing again, with each candidate saved "
           "and loaded before it is checked");
  const InterestingnessTest test = reloading_test(session.backend, session.check);
  Flattened saved = flattened;
  try {
    saved.verdict = session.answer_to(test, test.job(std::make_shared<Program>(flattened.program)), session.limits());
  } catch (const Interrupted &) {
    return reduction;
  }
  if (!work.is_wanted(saved.verdict))
    return reduction; // it cannot be handed over at all; verification will say so
  return with_earlier(search_once(work, saved, test, nullptr), reduction, /*is_continued=*/false);
}

/// A failure that was sought as a wrong value may come down to one of another dtype, which is the cause: then that is
/// the failure from there on, and the values need not stay wrong.
Reduction search_for_dtype(Work &work, const Flattened &flattened, Reduction reduction) {
  Signature &wanted = work.facts.signature;
  if (reduction.interrupted || reduction.out_of_time || work.has_oracle() ||
      !comes_of_dtypes(reduction.verdict, wanted))
    return reduction;
  wanted = {FailureKind::Dtype, wanted.where, ""};
  work.say(Severity::Info, "what is wrong is of another dtype: that is the failure that is reduced from here on");
  Flattened next = flattened;
  next.program = reduction.program;
  next.verdict = reduction.verdict;
  next.recording = nullptr;
  return with_earlier(search_once(work, next, work.session.test, work.session.journal), reduction,
                      /*is_continued=*/true);
}

} // namespace

Reduction search(Work &work, const Flattened &flattened) {
  Session &session = work.session;
  const bool grad = work.options().check.grad;
  Reduction reduction = search_for_dtype(work, flattened, search_once(work, flattened, session.test, session.journal));
  session.phases.enter("emit");
  save_program(reduction.program, work.folder, grad);
  if (!reduction.interrupted && !work.has_oracle() && is_lost_in_saving(work, reduction.program)) {
    reduction = search_as_saved(work, flattened, std::move(reduction));
    save_program(reduction.program, work.folder, grad);
  }
  return reduction;
}

std::optional<Reduction> search_for_what_shows_in_python(Work &work, const Flattened &flattened,
                                                         const Reduction &earlier) {
  const auto shows = [&work](const Program &program) { return shows_in_python(work, program); };
  if (!shows(flattened.program) || work.options().listener.stops())
    return std::nullopt;
  work.say(Severity::Info, "repro.py of the reduced program passes in an interpreter of its own, as if the result hung "
                           "on what memory holds; reducing again, with each candidate run so as well");
  Reduction reduction = with_earlier(search_once(work, flattened, work.session.test, nullptr, shows), earlier,
                                     /*is_continued=*/false);
  save_program(reduction.program, work.folder, work.options().check.grad);
  return reduction;
}

} // namespace repro_minify
