// Collects the facts that the reports state, from where they are known.
#include "check/nondeterminism.h"
#include "core/python_module.h"
#include "pipeline/minify_job.h"
#include "program/operator_libraries.h"

#include <algorithm>
#include <filesystem>

namespace repro_minify {
namespace {

/// The Signature that made the reduced program count: with another SameFailure it need not be the original's.
Signature shown_by(const Verdict &verdict, const ReproFacts &facts) {
  if (shows(verdict, facts.signature))
    return facts.signature;
  for (const auto &signature : verdict.signatures)
    if (facts.same_failure == SameFailure::Any || signature.kind == facts.signature.kind)
      return signature;
  return facts.signature;
}

/// The first row of the table of passes: without it their operators would not add up.
PassStatistics what_flattening_did(const Flattened &flattened) {
  PassStatistics row;
  row.pass = "flatten";
  row.runs = 1;
  row.operators_removed = flattened.before.operators - size_of(flattened.program).operators;
  return row;
}

} // namespace

void collect_facts(MinifyJob &job, const Program &program) {
  const Session &session = job.session;
  ReproFacts &facts = job.facts;
  facts.model_path = session.shown_path();
  if (session.options.conversion)
    facts.converted = to_string(*session.options.conversion);
  facts.libraries = names_of_libraries(session.options.backend_options.libraries);
  facts.modules.clear(); // those of another turn
  for (const auto &module : session.options.backend_options.imports)
    if (is_python_file(module))
      facts.modules.push_back(std::filesystem::path(module).filename().string());
  facts.method = session.options.method;
  facts.inputs_origin = session.inputs.origin;
  facts.backend = session.backend;
  facts.check = session.check;
  static_cast<RunSettings &>(facts.check) = session.settings();
  facts.same_failure = session.options.same_failure;
  facts.repetition = session.options.repetition;
  facts.needs_determinism = session.check.device.is_cuda() || session.check.determinism == Determinism::On ||
                            !unsteady_operators(*program.graph, session.check.device, session.check.grad).empty();
  facts.hang_seconds = static_cast<unsigned>(
      std::max<int64_t>(1, session.confirming_limits(facts.signature).timeout / std::chrono::seconds(1)));
  facts.memory_bytes = session.options.memory_bytes;
  facts.train = session.options.train;
  facts.anonymous = session.options.anonymous;
  facts.verify = session.options.verify;
}

void collect_facts(MinifyJob &job, const Flattened &flattened, const Reduction &reduction) {
  ReproFacts &facts = job.facts;
  facts.reduced = reduction.verdict;
  facts.signature = shown_by(reduction.verdict, facts);
  facts.flatten_level = flattened.level;
  facts.hidden_by = flattened.hidden_by;
  facts.before = flattened.before;
  facts.after = size_of(reduction.program);
  facts.after_freezing = operators_after_freezing(reduction.program, job.session.limits());
  facts.one_minimal = reduction.one_minimal;
  facts.not_shown_because = reduction.not_shown_because;
  facts.interrupted = reduction.interrupted || job.is_interrupted();
  facts.out_of_time = reduction.out_of_time;
  facts.check_seconds = reduction.check_seconds;
  facts.checks = reduction.checks;
  facts.cached = reduction.cached;
  facts.search_seconds = reduction.seconds;
  facts.passes = reduction.passes;
  facts.passes.insert(facts.passes.begin(), what_flattening_did(flattened));
}

} // namespace repro_minify
