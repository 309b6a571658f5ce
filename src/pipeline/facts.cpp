// Collects the facts that the reports state, from where they are known.
#include "check/operators.h"
#include "core/programs.h"
#include "pipeline/minify_job.h"
#include "program/operator_libraries.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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

/// Returns the FILE.py of the backend torch-compile:FILE.py:FUNCTION; empty for any other.
std::string file_of_function(const std::string &backend) {
  const std::string prefix = "torch-compile:";
  const std::string module =
      backend.starts_with(prefix) ? module_and_function(backend.substr(prefix.size())).first : "";
  return is_python_file(module) ? module : "";
}

Job job_on_saved(const MinifyJob &job) {
  if (job.has_oracle())
    return ask_oracle(job.session.oracle, fs::absolute(job.folder + "/reduced.pt").string());
  return check_job(saved_factory(job), job.session.backend, job.session.check);
}

Verdict ask_as_often(const MinifyJob &job, const Job &check, const Repetition &repetition) {
  const auto once = [&]() -> Verdict {
    try {
      return job.session.answer_to(check, job.session.confirming_limits(job.facts.signature));
    } catch (const Interrupted &) {
      return {}; // unresolved: there is something to keep by now
    }
  };
  return check_repeatedly(
      once, [&](const Verdict &verdict) { return job.is_wanted(verdict); }, repetition);
}

std::string mind_changed(const MinifyJob &job, const Verdict &confirmed) {
  constexpr const char *advice = "give --repeat N --need M";
  const std::string last = confirmed.message.empty() ? "it passes" : confirmed.message;
  if (job.has_oracle())
    return job.options().oracle + " changes its mind about reduced.pt: " + last + "; for one that is not always sure " +
           advice;
  std::string text = "reduced.pt, loaded again, does not fail the same way each time: " + last;
  if (confirmed.outcome == Verdict::Outcome::Pass)
    text += std::string("; for a failure that does not always show ") + advice;
  return text;
}

} // namespace

std::vector<std::string> files_of_modules(const Session &session) {
  std::vector<std::string> files;
  for (const auto &module : session.options.backend_options.imports)
    if (is_python_file(module))
      files.push_back(module);
  if (const std::string file = file_of_function(session.backend->name()); !file.empty())
    files.push_back(file);
  return files;
}

void collect_facts(MinifyJob &job, const Program &program) {
  const Session &session = job.session;
  ReproFacts &facts = job.facts;
  facts.model_path = session.shown_path();
  if (session.options.conversion)
    facts.converted = to_string(*session.options.conversion);
  facts.libraries = names_of_libraries(session.options.backend_options.libraries);
  facts.modules.clear(); // those of another turn
  for (const auto &module : files_of_modules(session))
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

// Does what was saved still fail? Asked of the files, by processes that have never seen anything else.

ModuleFactory saved_factory(const MinifyJob &job) {
  // A model that is handed back unreduced is as it was given; a reduced program is in eval mode.
  const bool train = job.facts.not_reduced && job.options().train;
  return [folder = job.folder, seed = job.options().check.seed, train](const InstantiateOptions &how) {
    std::ifstream file(folder + "/inputs.pt", std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    const auto inputs = torch::jit::pickle_load(bytes);
    return instantiate(Archive{folder + "/reduced.pt", inputs.toTupleRef().elements().vec(), seed, train}, how);
  };
}

bool is_lost_in_saving(const MinifyJob &job, const Program &program) {
  const auto fails = [&](const Job &check) {
    return job.is_wanted(ask_as_often(job, check, job.options().repetition));
  };
  const Job as_it_is = job.session.test.job(std::make_shared<Program>(program));
  return !fails(job_on_saved(job)) && fails(as_it_is) && !fails(job_on_saved(job));
}

bool confirm_saved(MinifyJob &job) {
  // One that is said to fail always has to, more than once: luck has a say in programs that are random themselves.
  const Repetition repetition =
      job.options().repetition.runs > 1 ? job.facts.repetition : Repetition{.runs = 3, .need = 3};
  const Verdict confirmed = ask_as_often(job, job_on_saved(job), repetition);
  if (job.options().listener.stops())
    return false;
  if (job.is_wanted(confirmed))
    return true;
  if (confirmed.no_answer) { // the moment's fault: nothing is known of what was saved
    job.facts.verify_message = "no answer: " + confirmed.message;
    return false;
  }
  job.facts.verified = false;
  job.facts.verify_message = mind_changed(job, confirmed);
  return false;
}

} // namespace repro_minify
