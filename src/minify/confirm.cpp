// Does what was saved still fail? Asked of the files, by processes that have never seen anything else.
#include "minify/work.h"
#include "oracle/external_oracle.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

Job job_on_saved(const Work &work) {
  if (work.has_oracle())
    return ask_oracle(work.session.oracle, fs::absolute(work.folder + "/reduced.pt").string());
  return check_job(saved_subject(work), work.session.backend, work.session.check);
}

Verdict ask_as_often(const Work &work, const Job &job, const Repetition &repetition) {
  const auto once = [&]() -> Verdict {
    try {
      return work.session.answer_to(job, work.session.confirming_limits(work.facts.signature));
    } catch (const Interrupted &) {
      return {}; // unresolved: there is something to keep by now
    }
  };
  return check_repeatedly(
      once, [&](const Verdict &verdict) { return work.is_wanted(verdict); }, repetition);
}

std::string mind_changed(const Work &work, const Verdict &confirmed) {
  constexpr const char *advice = "give --repeat N --need M";
  const std::string last = confirmed.message.empty() ? "it passes" : confirmed.message;
  if (work.has_oracle())
    return work.options().oracle + " changes its mind about reduced.pt: " + last +
           "; for one that is not always sure " + advice;
  std::string text = "reduced.pt, loaded again, does not fail the same way each time: " + last;
  if (confirmed.outcome == Verdict::Outcome::Pass)
    text += std::string("; for a failure that does not always show ") + advice;
  return text;
}

} // namespace

Subject saved_subject(const Work &work) {
  // A model that is handed back unreduced is as it was given; a reduced program is in eval mode.
  const bool train = work.facts.not_reduced && work.options().train;
  return [folder = work.folder, seed = work.options().check.seed, train](const InstantiateOptions &how) {
    std::ifstream file(folder + "/inputs.pt", std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    const auto inputs = torch::jit::pickle_load(bytes);
    return instantiate(Archive{folder + "/reduced.pt", inputs.toTupleRef().elements().vec(), seed, train}, how);
  };
}

Verdict ask_about_saved(const Work &work, const Repetition &repetition) {
  return ask_as_often(work, job_on_saved(work), repetition);
}

bool is_lost_in_saving(const Work &work, const Program &program) {
  const auto fails = [&](const Job &job) { return work.is_wanted(ask_as_often(work, job, work.options().repetition)); };
  const Job as_it_is = work.session.test.job(std::make_shared<Program>(program));
  return !fails(job_on_saved(work)) && fails(as_it_is) && !fails(job_on_saved(work));
}

bool confirm_saved(Work &work) {
  // One that is said to fail always has to, more than once: luck has a say in programs that are random themselves.
  const Repetition repetition =
      work.options().repetition.runs > 1 ? work.facts.repetition : Repetition{.runs = 3, .need = 3};
  const Verdict confirmed = ask_about_saved(work, repetition);
  if (work.options().listener.stops())
    return false;
  if (work.is_wanted(confirmed))
    return true;
  if (confirmed.no_answer) { // the moment's fault: nothing is known of what was saved
    work.facts.verify_message = "no answer: " + confirmed.message;
    return false;
  }
  work.facts.verified = false;
  work.facts.verify_message = mind_changed(work, confirmed);
  return false;
}

} // namespace repro_minify
