// Does what was saved still fail? Asked of the files, by processes that have never seen anything else.
#include "pipeline/external_oracle.h"
#include "pipeline/minify_job.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

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

Verdict ask_about_saved(const MinifyJob &job, const Repetition &repetition) {
  return ask_as_often(job, job_on_saved(job), repetition);
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
  const Verdict confirmed = ask_about_saved(job, repetition);
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
