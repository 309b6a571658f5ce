// Where do eager and optimised part? A table, JSON, and a picture.
#include "backends/backend_list.h"
#include "cli/interruption.h"
#include "cli/listening.h"
#include "cli/options.h"
#include "cli/results/analysis_text.h"
#include "core/log.h"
#include "pipeline/analyze_model.h"
#include "pipeline/open_model.h"
#include "pipeline/output_folder.h"

#include <iostream>

namespace repro_minify {
namespace {

int run_analysis(const Options &options) {
  require_known_backends(split_backend_names(options.backends)); // before a folder is complained of
  const std::string folder = output_folder(options, ".analysis");
  require_free(folder, options.force);
  ProgressPrinter progress(options.quiet, factory_of(options));
  MinifyOptions how = minify_options(options, progress);
  Session session(options.model, open_failing_graph(options.model, how));
  require_one_backend(session);
  const FailureRate rate = session.check_original();
  how.listener.throw_if_interrupted();
  require_checkable(session, rate.verdict);
  if (rate.verdict.eager_failed) {
    progress.finish();
    log::error(eager_problem(session, rate.verdict));
    return EagerNotReproducible;
  }
  warn_of_missing_reference(session, rate.verdict);
  const Analysis analysis = analyze_model(session, rate.verdict);
  progress.finish();
  make_folder(folder);
  write_analysis(analysis, session, folder);
  if (options.json) {
    std::cout << to_json(analysis) << '\n';
  } else {
    std::cout << analysis_text(analysis, rate.verdict) << folder << "/analysis.html\n";
  }
  return rate.verdict.outcome == Verdict::Outcome::Fail ? 1 : 0;
}

} // namespace

int analyze_command(const Options &options) {
  catch_signals();
  try {
    return run_analysis(options);
  } catch (const Interrupted &) {
  } catch (const std::exception &) {
    if (!stop_requested()) // what was cut short may complain
      throw;
  }
  log::warning("interrupted; nothing was written");
  return InterruptedByUser;
}

} // namespace repro_minify
