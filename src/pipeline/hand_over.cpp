// Does what follows the search: the guilty step, the repro and whether it holds, the other backends, the reports.
#include "core/number_text.h"
#include "core/text.h"
#include "pipeline/minify_job.h"
#include "program/compute.h"
#include "repro/reported.h"
#include "repro/repro_py.h"
#include "repro/results_folder.h"
#include "repro/workaround.h"
#include "repro_minify/backend_parts.h"
#include "tasks/sandbox.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>

namespace repro_minify {
namespace {

bool stops(const MinifyJob &job) {
  return job.options().listener.stops();
}

/// Half of what is left of a time budget: the repro is to be verified too.
std::function<bool()> until_half_is_spent(const MinifyJob &job) {
  const double budget = job.options().time_budget_seconds;
  const double end = (job.seconds_so_far() + budget) / 2;
  return [&job, budget, end] { return stops(job) || (budget > 0 && job.seconds_so_far() >= end); };
}

/// Nice to know: it never stands in the way of the repro.
void find_guilty_step(MinifyJob &job, const ModuleFactory &factory) {
  const Session &session = job.session;
  if (!job.options().bisect || job.has_oracle() || job.facts.interrupted)
    return;
  try {
    if (!has_steps(*session.backend))
      return;
    BisectOptions how = bisect_options_of(session, job.facts.signature);
    how.interrupted = until_half_is_spent(job);
    const Bisection found = bisect(factory, session.backend, how);
    job.say(Severity::Info,
            found.message + " (" + counted(found.checks.size(), "check") + ", " + rounded_text(found.seconds) + " s)");
    job.facts.bisection = found;
  } catch (const Interrupted &) {
    if (job.is_interrupted()) {
      job.facts.interrupted = true;
    } else {
      job.facts.bisection.emplace().message = "which step is guilty is not known: the time budget was spent";
      job.say(Severity::Warning, job.facts.bisection->message);
    }
  } catch (const std::exception &error) {
    job.say(Severity::Warning, std::string("bisect: ") + first_sentence(error.what()));
  }
  job.options().listener.say_finished();
}

/// repro.cpp is written by a child (it does arithmetic) while reduced.pt is confirmed. The reply is what the disk does
/// not take: that says nothing of the program. Null where there is no C++.
std::unique_ptr<Task<JobEnd>> begin_repro_cpp(const MinifyJob &job, const Program &program) {
  if (job.has_oracle())
    return nullptr;
  const auto write = [&job, &program](Child &child) {
    try {
      write_repro(program, job.facts, job.folder);
    } catch (const UserError &error) {
      child.reply(error.what());
    }
  };
  return std::make_unique<Task<JobEnd>>(write, generous_limits());
}

/// Waits until repro.cpp is written, but only a second after an interruption: a user who interrupts does not want to
/// wait, and as a rule the file is there in an instant.
void await_repro_cpp(const MinifyJob &job, Task<JobEnd> &task) {
  std::optional<std::chrono::steady_clock::time_point> end;
  const auto gives_up = [&] {
    if (stops(job) && !end)
      end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    return end && std::chrono::steady_clock::now() > *end;
  };
  const JobEnd job_end = task.wait(gives_up);
  if (job_end.ending == Ending::Cancelled) {
    job.say(Severity::Warning, job.why_cut_short() + " before repro.cpp was written");
    return;
  }
  require_reply(job_end);
  if (!job_end.reply.empty())
    throw UserError(job_end.reply);
}

/// False if it cannot be written: the program is still reduced, and in its file.
bool is_repro_cpp_written(MinifyJob &job, Task<JobEnd> *task) {
  std::string none_because; // the moment's fault, as in confirm_saved()
  try {
    if (task)
      await_repro_cpp(job, *task);
    return true;
  } catch (const std::system_error &error) {
    none_because = error.what();
  } catch (const UserError &error) {
    none_because = error.what();
  } catch (const std::exception &error) {
    job.facts.verified = false;
    job.facts.verify_message = "repro.cpp cannot be written: " + first_sentence(error.what());
    return false;
  }
  if (job.facts.verify_message.empty())
    job.facts.verify_message = "repro.cpp is not written: " + none_because;
  return false;
}

Verdict verdict_under(const MinifyJob &job, const std::shared_ptr<const Backend> &backend) {
  if (job.facts.not_reduced && backend->traits().needs_flat_graph) {
    Verdict verdict; // unresolved
    verdict.message = "it takes nothing else than a flat program";
    return verdict;
  }
  return check(saved_factory(job), backend, job.session.check, job.session.limits());
}

/// Checks the reduced program under the other backends, and adds what came of it to the facts.
void ask_others(MinifyJob &job) {
  for (const auto &backend : job.session.others) {
    if (stops(job))
      return;
    const auto fails = [](const Verdict &verdict) { return verdict.outcome == Verdict::Outcome::Fail; };
    OtherBackend other{backend->name(), check_repeatedly([&] { return verdict_under(job, backend); }, fails,
                                                         {.runs = job.options().repetition.runs, .need = 1})};
    if (stops(job))
      return;
    other.same_signature = shows(other.verdict, job.facts.signature);
    job.say(Severity::Info, "under " + other.name + ": " + to_string(other));
    job.facts.others.push_back(std::move(other));
  }
}

/// Which other backends get the reduced program wrong too.
void ask_everyone_else(MinifyJob &job) {
  job.session.phases.enter("other backends");
  ask_others(job);
  if (!stops(job) && !job.has_oracle() && job.options().verify)
    job.facts.ablation = ablate(saved_factory(job), job.facts, job.session.limits());
}

/// Says what was asked for and is not done, where that was cut short: by a person, or as the time budget was spent.
void note_what_was_cut_short(MinifyJob &job) {
  ReproFacts &facts = job.facts;
  if (!stops(job))
    return;
  if (job.is_interrupted()) {
    facts.interrupted = true;
    return;
  }
  facts.out_of_time = true;
  const std::string why = job.why_cut_short();
  if (job.options().verify && !facts.verified && facts.verify_message.empty()) {
    facts.verify_message = why + " before it could be";
    if (!facts.script.verified)
      facts.script.message = facts.verify_message;
  }
  for (size_t asked = facts.others.size(); asked < job.session.others.size(); ++asked) {
    facts.others.push_back({job.session.others[asked]->name(), {}});
    facts.others.back().verdict.message = why;
  }
}

/// The first compilation of a process takes seconds whatever the program.
Limits limits_of_inductor(const MinifyJob &job) {
  Limits limits = job.session.limits();
  if (job.options().timeout_seconds <= 0)
    limits.timeout = std::max<decltype(limits.timeout)>(limits.timeout, std::chrono::minutes(1));
  return limits;
}

/// Checks whether TorchInductor fails too, as reports about it are read. This takes seconds of Python, so it comes
/// late: a user who does not wait lacks only these rows.
void ask_inductor(MinifyJob &job) {
  if (job.facts.backend->parts().tracker) // its steps say more
    return;
  job.say(Severity::Info, "verified; now TorchInductor is asked for the ablation of issue.md (--no-ablation: not)");
  const std::vector<AblationRow> rows =
      ablate_inductor(saved_factory(job), job.facts, limits_of_inductor(job), job.options().backend_options);
  if (!stops(job))
    job.facts.ablation.insert(job.facts.ablation.end(), rows.begin(), rows.end());
}

/// Looks for something to do until the failure is fixed. Without it the reports lack a sentence.
void ask_for_workaround(MinifyJob &job) {
  if (stops(job))
    return;
  job.session.phases.enter("workaround");
  try {
    job.facts.workaround = find_workaround(job.facts, {.reduced = saved_factory(job),
                                                       .model = job.session.original(),
                                                       .limits = limits_of_inductor(job),
                                                       .python = python_of_repro(job),
                                                       .results = job.folder});
  } catch (const Interrupted &) {
  } catch (const std::exception &error) {
    job.say(Severity::Warning, "workaround: " + first_sentence(error.what()));
  }
}

/// How repro.py fares under the versions of PyTorch that --since names.
void ask_other_versions(MinifyJob &job) {
  const std::vector<std::string> &pythons = job.options().since;
  if (pythons.empty() || stops(job))
    return;
  if (!job.facts.script.verified.value_or(false)) {
    job.say(Severity::Warning, "--since: repro.py is not verified, so that no other version can be asked");
    return;
  }
  job.session.phases.enter("versions");
  try {
    job.facts.versions =
        ask_versions(job.facts, job.folder, python_of_repro(job), pythons, job.options().listener.interrupted);
    for (size_t i = 0; i < job.facts.versions.size(); ++i)
      if (const VersionRow &row = job.facts.versions[i]; row.outcome == VersionRow::Outcome::NoAnswer)
        job.say(Severity::Warning,
                "--since: no answer of " + (i == 0 ? "the Python in use" : pythons[i - 1]) + ": " + row.message);
    if (job.facts.versions.size() > 1)
      job.say(Severity::Info, versions_sentence(job.facts));
  } catch (const Interrupted &) {
  } catch (const std::exception &error) {
    job.say(Severity::Warning, "--since: " + first_sentence(error.what()));
  }
}

/// Asks the questions that only a verified repro answers, each of which takes seconds. Returns true if there are any.
bool ask_more(MinifyJob &job) {
  const bool ablates = is_verified(job.facts) && job.options().ablation;
  if (job.has_oracle() || stops(job) || (!ablates && job.options().since.empty()))
    return false;
  if (ablates) {
    ask_inductor(job);
    ask_for_workaround(job);
  }
  ask_other_versions(job);
  return true;
}

/// Begins what may run beside the rest.
void begin_beside(MinifyJob &job, Verifying &verifying, const Program &program) {
  verifying.begin(program);
  if (!job.picture && job.session.check.device.is_cpu())
    begin_picture(job);
}

/// Finds out how the wrong result comes about. Without it the reports lack a sentence.
void find_how(MinifyJob &job, const Program &program) {
  try {
    find_explanation(program, job.facts, limits_of_inductor(job));
  } catch (const std::exception &error) {
    job.say(Severity::Detail, "how the result comes about is not known: " + first_sentence(error.what()));
  }
}

/// Finds out what the texts say of the reduced program beside that it fails.
void find_out_more(MinifyJob &job, const Program &program, const ModuleFactory &factory, bool interrupted) {
  Session &session = job.session;
  session.phases.enter("bisect");
  if (!interrupted)
    find_guilty_step(job, factory);
  session.phases.enter("confirm");
  ReproFacts &facts = job.facts;
  if (job.has_oracle() || interrupted)
    return;
  find_how(job, program);
  if (!is_comparison(facts.signature.kind))
    return;
  facts.reads_unwritten = reads_unwritten_memory(factory, session.backend, session.check, session.limits());
  facts.movement =
      movement_of_eager(factory, session.backend, session.check, facts.reduced, facts.signature, session.limits());
}

/// Writes repro.cpp, confirms reduced.pt beside that, and runs both repros; the other backends are asked while the
/// compiler works. `interrupted`: they are not asked at all.
void write_and_verify(MinifyJob &job, Verifying &verifying, const Program &program, PackageTask &package,
                      bool interrupted) {
  if (package && (package->has_ended() || stops(job))) // if there is none, repro.cpp is not written for it
    finish_package(job, program, package);
  const auto repro = begin_repro_cpp(job, program);
  const auto begin = std::chrono::steady_clock::now();
  const bool confirmed = !job.facts.interrupted && confirm_saved(job);
  const bool written = is_repro_cpp_written(job, repro.get());
  bool asked = interrupted;
  const auto meanwhile = [&] {
    if (!std::exchange(asked, true))
      ask_everyone_else(job);
    job.session.phases.enter("verify");
  };
  job.session.phases.enter("verify");
  if (confirmed && written && !stops(job))
    verifying.end(program, meanwhile, [&] { finish_package(job, program, package); });
  meanwhile();
  finish_package(job, program, package);
  note_what_was_cut_short(job);
  job.facts.verify_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Writes the reports and issue.md with what is known by now.
void write_what_is_known(MinifyJob &job, const Program &program) {
  job.facts.total_seconds = job.seconds_so_far();
  job.facts.phases = job.session.phases.seconds();
  write_reports(program, job.facts, job.folder);
  if (!job.has_oracle())
    write_issue(program, job.facts, job.folder);
}

/// The reports, what takes seconds of Python, and the page.
void write_texts(MinifyJob &job, const Program &program) {
  ReproFacts &facts = job.facts;
  write_what_is_known(job, program);
  if (ask_more(job))
    write_what_is_known(job, program);
  job.session.phases.enter("page");
  write_page(job, program);
  // The page or issue.md is not what it would have been, and the exit code says so: the reports agree with it. An
  // interruption after this has missed nothing.
  if (job.is_interrupted() && !facts.interrupted) {
    facts.interrupted = true;
    write_reports(program, facts, job.folder);
  }
}

/// Removes the candidates that an oracle had before it when it was killed: folders that are named by a hash.
void remove_candidates(const fs::path &folder) {
  constexpr size_t digit_count = 32; // of canonical_hash()
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.size() == digit_count && name.find_first_not_of("0123456789abcdef") == std::string::npos)
      fs::remove_all(entry.path(), ignored);
  }
  fs::remove(folder, ignored); // if nothing is left
}

} // namespace

void hand_over(MinifyJob &job, Verifying &verifying, const Program &program, const ModuleFactory &factory,
               bool interrupted) {
  if (job.has_oracle())
    remove_candidates(job.folder + "/candidates");
  if (!interrupted)
    begin_beside(job, verifying, program);
  PackageTask package = begin_package(job, program);
  find_out_more(job, program, factory, interrupted);
  write_and_verify(job, verifying, program, package, interrupted);
  write_texts(job, program);
}

} // namespace repro_minify
