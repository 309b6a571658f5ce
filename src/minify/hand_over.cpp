// Does what follows the search: the guilty step, the repro and whether it holds, the other backends, the reports.
#include "minify/package.h"
#include "minify/work.h"
#include "program/compute.h"
#include "repro_minify/backend_parts.h"
#include "support/number_text.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

bool stops(const Work &work) {
  return work.options().listener.stops();
}

/// Half of what is left of a time budget: the repro is to be verified too.
std::function<bool()> until_half_is_spent(const Work &work) {
  const double budget = work.options().time_budget_seconds;
  const double end = (work.seconds_so_far() + budget) / 2;
  return [&work, budget, end] { return stops(work) || (budget > 0 && work.seconds_so_far() >= end); };
}

/// Nice to know: it never stands in the way of the repro.
void find_guilty_step(Work &work, const Subject &subject) {
  const Session &session = work.session;
  if (!work.options().bisect || work.has_oracle() || work.facts.interrupted)
    return;
  try {
    if (!has_steps(*session.backend))
      return;
    BisectOptions how = bisect_options_of(session, work.facts.signature);
    how.interrupted = until_half_is_spent(work);
    const Bisection found = bisect(subject, session.backend, how);
    work.say(Severity::Info, found.message + " (" + std::to_string(found.checks.size()) + " checks, " +
                                 rounded_text(found.seconds) + " s)");
    work.facts.bisection = found;
  } catch (const Interrupted &) {
    if (work.is_interrupted()) {
      work.facts.interrupted = true;
    } else {
      work.facts.bisection.emplace().message = "which step is guilty is not known: the time budget was spent";
      work.say(Severity::Warning, work.facts.bisection->message);
    }
  } catch (const std::exception &error) {
    work.say(Severity::Warning, std::string("bisect: ") + first_sentence(error.what()));
  }
  work.options().listener.say_finished();
}

/// repro.cpp is written by a child (it does arithmetic) while reduced.pt is confirmed.
class ReproInWriting {
public:
  ReproInWriting(Work &work, const Program &program) : work_(work) {
    if (!work.has_oracle())
      ticket_ = pool_.submit([&work, &program](Child &child) { write(work, program, child); }, generous_limits());
  }

  /// Waits for repro.cpp. False if it cannot be written: the program is still reduced, and in its file.
  bool is_written() {
    try {
      await();
      return true;
    } catch (const std::system_error &error) {
      return nobody_knows(error.what());
    } catch (const UserError &error) {
      return nobody_knows(error.what());
    } catch (const std::exception &error) {
      work_.facts.verified = false;
      work_.facts.verify_message = "repro.cpp cannot be written: " + first_sentence(error.what());
      return false;
    }
  }

private:
  /// Replies with what the disk does not take: that says nothing of the program.
  static void write(const Work &work, const Program &program, Child &child) {
    try {
      write_repro(program, work.facts, work.folder);
    } catch (const UserError &error) {
      child.reply(error.what());
    }
  }

  /// The moment's fault, as in confirm_saved().
  bool nobody_knows(const std::string &why) {
    if (work_.facts.verify_message.empty())
      work_.facts.verify_message = "repro.cpp is not written: " + why;
    return false;
  }

  /// Waits until repro.cpp is written, but only a second after an interruption: a user who interrupts does not want to
  /// wait, and as a rule the file is there in an instant.
  void await() {
    if (!ticket_)
      return;
    std::optional<std::chrono::steady_clock::time_point> end;
    const auto gives_up = [&] {
      if (stops(work_) && !end)
        end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      return end && std::chrono::steady_clock::now() > *end;
    };
    if (const auto job_end = pool_.wait(*ticket_, gives_up)) {
      require_reply(*job_end);
      if (!job_end->reply.empty())
        throw UserError(job_end->reply);
      return;
    }
    pool_.cancel(*ticket_);
    work_.say(Severity::Warning, work_.why_cut_short() + " before repro.cpp was written");
  }

  Work &work_;
  SandboxPool pool_{1};
  std::optional<SandboxPool::Ticket> ticket_;
};

Verdict verdict_under(const Work &work, const std::shared_ptr<const Backend> &backend) {
  if (work.facts.not_reduced && backend->traits().needs_flat_graph) {
    Verdict verdict; // unresolved
    verdict.message = "it takes nothing else than a flat program";
    return verdict;
  }
  return check(saved_subject(work), backend, work.session.check, work.session.limits());
}

/// Checks the reduced program under the other backends, and adds what came of it to the facts.
void ask_others(Work &work) {
  for (const auto &backend : work.session.others) {
    if (stops(work))
      return;
    const auto fails = [](const Verdict &verdict) { return verdict.outcome == Verdict::Outcome::Fail; };
    OtherBackend other{backend->name(), check_repeatedly([&] { return verdict_under(work, backend); }, fails,
                                                         {.runs = work.options().repetition.runs, .need = 1})};
    if (stops(work))
      return;
    other.same_signature = shows(other.verdict, work.facts.signature);
    work.say(Severity::Info, "under " + other.name + ": " + to_string(other));
    work.facts.others.push_back(std::move(other));
  }
}

/// Which other backends get the reduced program wrong too.
void ask_everyone_else(Work &work) {
  work.session.phases.enter("other backends");
  ask_others(work);
  if (!stops(work) && !work.has_oracle() && work.options().verify)
    work.facts.ablation = ablate(saved_subject(work), work.facts, work.session.limits());
}

/// Says what was asked for and is not done, where that was cut short: by a person, or as the time budget was spent.
void note_what_was_cut_short(Work &work) {
  ReproFacts &facts = work.facts;
  if (!stops(work))
    return;
  if (work.is_interrupted()) {
    facts.interrupted = true;
    return;
  }
  facts.out_of_time = true;
  const std::string why = work.why_cut_short();
  if (work.options().verify && !facts.verified && facts.verify_message.empty()) {
    facts.verify_message = why + " before it could be";
    if (!facts.script.verified)
      facts.script.message = facts.verify_message;
  }
  for (size_t asked = facts.others.size(); asked < work.session.others.size(); ++asked) {
    facts.others.push_back({work.session.others[asked]->name(), {}});
    facts.others.back().verdict.message = why;
  }
}

bool is_verified(const ReproFacts &facts) {
  return facts.verified.value_or(false) || facts.script.verified.value_or(false);
}

/// The first compilation of a process takes seconds whatever the program.
Limits limits_of_inductor(const Work &work) {
  Limits limits = work.session.limits();
  if (work.options().timeout_seconds <= 0)
    limits.timeout = std::max<decltype(limits.timeout)>(limits.timeout, std::chrono::minutes(1));
  return limits;
}

/// Checks whether TorchInductor fails too, as reports about it are read. This takes seconds of Python, so it comes
/// last: a user who does not wait lacks only these rows.
void ask_inductor(Work &work, const Program &program) {
  if (!work.options().ablation || work.has_oracle() || stops(work) || !is_verified(work.facts))
    return;
  work.say(Severity::Info, "verified; now TorchInductor is asked for the ablation of issue.md (--no-ablation: not)");
  const std::vector<AblationRow> rows =
      ablate_inductor(saved_subject(work), work.facts, limits_of_inductor(work), work.options().backend_options);
  if (stops(work))
    return;
  work.facts.ablation.insert(work.facts.ablation.end(), rows.begin(), rows.end());
  write_issue(program, work.facts, work.folder);
}

} // namespace

void hand_over(Work &work, Verifying &verifying, const Program &program, const Subject &subject, bool interrupted) {
  ReproFacts &facts = work.facts;
  Session &session = work.session;
  std::error_code ignored;
  if (work.has_oracle()) // what one that was killed had before it
    fs::remove_all(work.folder + "/candidates", ignored);
  if (!interrupted)
    verifying.begin(program);
  if (!interrupted && !work.picture && session.check.device.is_cpu())
    begin_picture(work);
  PackageInMaking package(work, program);
  session.phases.enter("bisect");
  if (!interrupted)
    find_guilty_step(work, subject);
  session.phases.enter("confirm");
  if (!work.has_oracle() && !interrupted && is_comparison(facts.signature.kind))
    facts.reads_unwritten = reads_unwritten_memory(subject, session.backend, session.check, session.limits());
  package.look();
  ReproInWriting repro(work, program);
  const auto begin = std::chrono::steady_clock::now();
  const bool confirmed = !facts.interrupted && confirm_saved(work);
  const bool written = repro.is_written();
  bool asked = interrupted;
  const auto meanwhile = [&] {
    if (!std::exchange(asked, true))
      ask_everyone_else(work);
    session.phases.enter("verify");
  };
  session.phases.enter("verify");
  if (confirmed && written && !stops(work))
    verifying.end(program, meanwhile, [&package] { package.finish(); });
  meanwhile();
  package.finish();
  note_what_was_cut_short(work);
  facts.verify_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  facts.total_seconds = work.seconds_so_far();
  facts.phases = work.session.phases.seconds();
  write_reports(program, facts, work.folder);
  if (!work.has_oracle())
    write_issue(program, facts, work.folder);
  session.phases.enter("page");
  write_page(work, program);
  ask_inductor(work, program);
  // The page or issue.md is not what it would have been, and the exit code says so: the reports agree with it. An
  // interruption after this has missed nothing.
  if (work.is_interrupted() && !facts.interrupted) {
    facts.interrupted = true;
    write_reports(program, facts, work.folder);
  }
}

} // namespace repro_minify
