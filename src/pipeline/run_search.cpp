// The search, as a Session asks for it.
#include "check/verdict_text.h"
#include "pipeline/minify_job.h"
#include "program/compute.h"
#include "reduce/reduce_recorded.h"

#include <algorithm>
#include <chrono>

namespace repro_minify {
namespace {

/// The stages after the search have to have its share of the time budget, or what was found could not be verified.
double seconds_for_search(const MinifyJob &job) {
  constexpr double most_for_the_rest = 30;
  const double budget = job.options().time_budget_seconds;
  return std::max(0.001, budget - std::min(budget / 3, most_for_the_rest) - job.seconds_so_far());
}

ReduceOptions reduce_options_of(MinifyJob &job, std::shared_ptr<Journal> journal) {
  const MinifyOptions &options = job.options();
  ReduceOptions how;
  how.same_failure = options.same_failure;
  how.repetition = options.repetition;
  how.limits = job.session.limits();
  how.jobs = options.jobs;
  how.journal = std::move(journal);
  how.passes = options.passes;
  if (options.time_budget_seconds > 0)
    how.time_budget_seconds = seconds_for_search(job);
  how.interrupted = options.listener.interrupted;
  job.course.clear();
  how.progress = [&job](const Progress &now) {
    note_progress(job.course, now);
    if (job.options().listener.progress)
      job.options().listener.progress(now);
  };
  how.on_phase = [&session = job.session](const std::string &phase) { session.phases.enter(phase); };
  return how;
}

/// True if the picture can be begun, with three quarters of the operators gone: by then the checks that take long are
/// over, and what is left to ask leaves processors idle.
bool is_time_for_picture(const MinifyJob &job, const Flattened &flattened, const Program &best) {
  return !job.picture && !job.has_oracle() && job.options().jobs > 1 && job.session.check.device.is_cpu() &&
         4 * size_of(best).operators <= size_of(flattened.program).operators;
}

void say_what_came_of(const MinifyJob &job, const Reduction &reduction) {
  job.options().listener.say_finished();
  if (job.options().listener.reduced)
    job.options().listener.reduced(reduction);
  for (const auto &pass : reduction.passes)
    if (!pass.problem.empty())
      job.say(Severity::Warning, "pass " + pass.pass + " ended early: " + first_sentence(pass.problem));
  for (const auto &reason : reduction.not_shown_because)
    job.say(Severity::Warning, "not shown to be 1-minimal: " + reason);
}

Reduction search_once(MinifyJob &job, const Flattened &flattened, const InterestingnessTest &test,
                      std::shared_ptr<Journal> journal, std::function<bool(const Program &)> also_required = nullptr) {
  ReduceOptions how = reduce_options_of(job, std::move(journal));
  how.also_required = std::move(also_required);
  if (const auto &begun = job.options().listener.begun)
    begun(flattened.before);
  // The best so far is on disk while the search goes on. Nothing is lost if we are killed: the journal leads back to
  // here. A file for each small step forward would cost more than the step.
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_saved{}; // the machine's start: the first is saved
  how.on_improved = [&](const Program &program) {
    try {
      if (Clock::now() - last_saved >= std::chrono::milliseconds(500)) {
        save_program(program, job.folder, job.options().check.grad, "reduced", /*durable=*/false);
        last_saved = Clock::now();
      }
    } catch (const std::exception &error) { // the next one may find room; the last one is saved once more
      job.say(Severity::Detail, "the best so far is not saved: " + first_sentence(error.what()));
    }
    if (is_time_for_picture(job, flattened, program))
      begin_picture(job);
  };
  // An oracle of the user's own has settings of its own.
  const auto recording = job.has_oracle() ? nullptr : flattened.recording;
  Reduction reduction =
      reduce_recorded(flattened.program, recording, flattened.verdict, job.facts.signature, test, how);
  if (reduction.interrupted && !job.is_interrupted()) { // the time budget was spent unseen
    reduction.interrupted = false;
    reduction.out_of_time = true;
    reduction.not_shown_because = {"the time budget was spent"};
  }
  say_what_came_of(job, reduction);
  return reduction;
}

/// Once more, with each candidate checked as its file has it. The journal is about the others: a run that is killed
/// here comes back to this point.
Reduction search_as_saved(MinifyJob &job, const Flattened &flattened, Reduction reduction) {
  const Session &session = job.session;
  job.say(Severity::Info,
          "the reduced program no longer fails once it is saved and loaded; reducing again, with each candidate saved "
          "and loaded before it is checked");
  const InterestingnessTest test = reloading_test(session.backend, session.check);
  Flattened saved = flattened;
  try {
    saved.verdict = session.answer_to(test, test.job(std::make_shared<Program>(flattened.program)), session.limits());
  } catch (const Interrupted &) {
    return reduction;
  }
  if (!job.is_wanted(saved.verdict))
    return reduction; // it cannot be handed over at all; verification will say so
  return with_earlier(search_once(job, saved, test, nullptr), reduction, /*is_continued=*/false);
}

/// A failure that was sought as a wrong value may come down to one of another dtype, which is the cause: then that is
/// the failure from there on, and the values need not stay wrong.
Reduction search_for_dtype(MinifyJob &job, const Flattened &flattened, Reduction reduction) {
  Signature &wanted = job.facts.signature;
  if (reduction.interrupted || reduction.out_of_time || job.has_oracle() || !comes_of_dtypes(reduction.verdict, wanted))
    return reduction;
  wanted = {FailureKind::Dtype, wanted.where, ""};
  job.say(Severity::Info, "what is wrong is of another dtype: that is the failure that is reduced from here on");
  Flattened next = flattened;
  next.program = reduction.program;
  next.verdict = reduction.verdict;
  next.recording = nullptr;
  return with_earlier(search_once(job, next, job.session.test, job.session.journal), reduction,
                      /*is_continued=*/true);
}

} // namespace

Reduction search(MinifyJob &job, const Flattened &flattened) {
  Session &session = job.session;
  const bool grad = job.options().check.grad;
  Reduction reduction = search_for_dtype(job, flattened, search_once(job, flattened, session.test, session.journal));
  session.phases.enter("emit");
  save_program(reduction.program, job.folder, grad);
  if (!reduction.interrupted && !job.has_oracle() && is_lost_in_saving(job, reduction.program)) {
    reduction = search_as_saved(job, flattened, std::move(reduction));
    save_program(reduction.program, job.folder, grad);
  }
  return reduction;
}

std::optional<Reduction> search_for_what_shows_in_python(MinifyJob &job, const Flattened &flattened,
                                                         const Reduction &earlier) {
  const auto shows = [&job](const Program &program) { return shows_in_python(job, program); };
  if (!shows(flattened.program) || job.options().listener.stops())
    return std::nullopt;
  job.say(Severity::Info, "repro.py of the reduced program does not fail in this way in an interpreter of its own: the "
                          "failure depends on what memory holds, or on what the text leaves out; reducing again, with "
                          "each candidate run so as well");
  Reduction reduction = with_earlier(search_once(job, flattened, job.session.test, nullptr, shows), earlier,
                                     /*is_continued=*/false);
  save_program(reduction.program, job.folder, job.options().check.grad);
  return reduction;
}

} // namespace repro_minify
