// The command `bisect`: which step of the backend makes the model wrong?
#include "backends/backend_registry.h"
#include "cli/options.h"
#include "cli/progress_printer.h"
#include "core/log.h"
#include "core/text.h"
#include "pipeline/minify_job.h"
#include "pipeline/open_model.h"
#include "repro_minify/bisect.h"
#include "repro_minify/session.h"

#include <iostream>

namespace repro_minify {
namespace {

/// Returns a table with a row for each check, and the conclusion.
std::string bisection_text(const Bisection &bisection) {
  std::vector<std::vector<std::string>> rows = {
      {"what ran", "of " + std::to_string(bisection.steps.size()), "", "what came of it"}};
  for (const auto &check : bisection.checks)
    rows.push_back({clean(check.what), check.steps ? std::to_string(*check.steps) : "-",
                    check.fails        ? "wrong"
                    : check.unresolved ? "?"
                                       : "right",
                    check.message.empty() ? "-" : clean(check.message)});
  return table_text(rows) + '\n' + clean(bisection.message) + '\n' +
         (bisection.note.empty() ? "" : clean(bisection.note) + '\n');
}

int bisect_as(const MinifyOptions &how, const Options &options, ProgressPrinter &progress) {
  Session session(options.model, how);
  require_one_backend(session);
  if (!options.oracle.empty() || !has_steps(*session.backend))
    throw UserError("--backend " + session.backend->name() + ": has no steps that can be left out");
  const FailureRate rate = session.check_original();
  if (const auto own = options_with_own_generator(session, rate))
    return bisect_as(*own, options, progress);
  progress.hide();
  how.listener.throw_if_interrupted();
  require_checkable(session, rate.verdict);
  if (rate.verdict.eager_failed) {
    log::error(eager_problem(session, rate.verdict));
    return EagerNotReproducible;
  }
  if (rate.failed < options.need) {
    log::error(session.shown_path() + ": does not fail under " + session.backend->name());
    return DoesNotFail;
  }
  session.phases.enter("bisect");
  const Bisection bisection =
      bisect(session.original(), session.backend, bisect_options_of(session, rate.verdict.signatures.front()));
  progress.finish();
  if (options.json)
    std::cout << to_json(bisection) << '\n';
  else
    std::cout << bisection_text(bisection);
  return bisection.guilty ? 0 : NoStepFound;
}

int run_bisection(const Options &options) {
  require_known_backends(split_backend_names(options.backends));
  ProgressPrinter progress(options.quiet, factory_of(options));
  const auto opened = open_one_graph(options.model, minify_options(options, progress));
  if (opened)
    return bisect_as(*opened, options, progress);
  log::error(none_fails(options.model));
  return DoesNotFail;
}

} // namespace

int bisect_command(const Options &options) {
  try {
    return run_bisection(options);
  } catch (const Interrupted &) {
  }
  log::warning("interrupted");
  return InterruptedByUser;
}

} // namespace repro_minify
