// Does what is handed over show the failure? repro.py and repro.cpp are run before anybody is given them.
#include "backends/in_python.h"
#include "core/files.h"
#include "pipeline/minify_job.h"
#include "repro/reported.h"
#include "repro_minify/backend_parts.h"
#include "tasks/compiler.h"
#include "tasks/project_build.h"
#include "tasks/sandbox.h"

namespace repro_minify {
namespace {

/// Collects what issue.md says of the machine, while the compiler and repro.py are at work. Empty if there is no
/// Python to ask, or once interrupted.
Task<std::string> collect_environment_beside(const std::string &python) {
  Limits limits;
  limits.timeout = std::chrono::minutes(2);
  return {[python](Child &child) { child.reply(collect_environment(python)); }, limits,
          [](const JobEnd &job_end) { return job_end.reply; }};
}

/// Returns the message before the build; it says what takes the time if the build is going to be long.
std::string announcement(const ReproFacts &facts) {
  if (!has_cpp(facts))
    return "running repro.py ...";
  const bool in_python = facts.backend->parts().repro_in_python; // that is run first
  const std::string work = (in_python ? "running repro.py, " : "") + std::string("building and running repro.cpp ...");
  const auto cache = kept_headers_folder();
  if (cache.empty() || keeps_any_header())
    return work;
  return work + " (LibTorch's headers take 10 to 30 s; they are kept precompiled, " +
         std::string(find_quick_compiler().empty() ? "some 600 MB" : "some 130 MB") + " in " + cache.string() +
         ", and later runs take 3 s)";
}

} // namespace

std::string python_of_repro(const MinifyJob &job) {
  const ReproInPython *in_python = job.session.backend->parts().repro_in_python;
  return in_python ? in_python->python() : find_python_with_torch(job.options().backend_options.python);
}

bool shows_in_python(const MinifyJob &job, const Program &program) {
  constexpr int runs = 3; // memory holds other values in each, and now and then the right ones
  const std::string python = python_of_repro(job);
  for (int i = 0; i < runs; ++i) {
    const TemporaryFolder folder;
    for (const auto *files : {&job.facts.libraries, &job.facts.modules})
      for (const auto &file : *files)
        fs::copy_file(job.folder + "/" + file, folder / file);
    ScriptVerifier script(folder.path(), python);
    script.begin(program, job.facts);
    if (!script.finish(job.options().listener.interrupted).verified.value_or(false))
      return false;
  }
  return true;
}

bool Verifying::is_wanted() const {
  return job_.options().verify && !job_.has_oracle();
}

/// True if repro.py runs in any interpreter that has torch, and reads no file.
bool Verifying::needs_nothing_else() const {
  return !job_.session.backend->parts().repro_in_python && job_.options().backend_options.libraries.empty();
}

ScriptVerifier &Verifying::script() {
  if (!python_)
    python_ = python_of_repro(job_);
  if (!script_)
    script_ = std::make_unique<ScriptVerifier>(job_.folder, *python_);
  return *script_;
}

void Verifying::prepare() {
  if (!is_wanted())
    return;
  try {
    auto repro = std::make_unique<ReproVerifier>();
    repro->configure(*job_.session.backend, !job_.options().backend_options.libraries.empty());
    repro_ = std::move(repro);
  } catch (const std::exception &) { // it is begun anew where it is needed, and the error is reported then
  }
}

void Verifying::begin(const Program &program) {
  if (!is_wanted() || job_.facts.interrupted)
    return;
  if (needs_nothing_else()) {
    script().begin(program, job_.facts);
    has_begun_ = true;
  }
}

void Verifying::end(const Program &program, const std::function<void()> &meanwhile,
                    const std::function<void()> &complete) {
  ReproFacts &facts = job_.facts;
  if (job_.has_oracle())
    facts.verified = true; // there is no C++ to build: the oracle alone knows what is looked for
  if (!is_wanted())
    return;
  const auto &interrupted = job_.options().listener.interrupted;
  const bool in_python = facts.backend->parts().repro_in_python;
  ScriptVerifier &script = this->script();
  Task<std::string> environment = collect_environment_beside(*python_);
  if (!std::exchange(has_begun_, true))
    script.begin(program, facts);
  const auto while_it_compiles = [&] {
    meanwhile();
    if (!in_python) // repro.cpp has no need of it
      return false;
    facts.script = script.finish(interrupted);
    return facts.script.verified.value_or(false);
  };
  job_.say(Severity::Info, announcement(facts));
  std::optional<Verification> of_cpp;
  if (has_cpp(facts))
    of_cpp = verify_cpp(program, while_it_compiles, complete);
  else
    while_it_compiles();
  if (!in_python)
    facts.script = script.finish(interrupted);
  facts.environment = environment.wait(interrupted);
  if (job_.is_interrupted())
    return;
  // A repro that has shown the failure by the end of the time budget counts.
  const bool in_time = !job_.options().listener.stops(), script_shows = facts.script.verified.value_or(false);
  if (of_cpp && (in_time || of_cpp->same_failure))
    take(*of_cpp);
  else if (of_cpp && script_shows)
    take_script_without_cpp(job_.why_cut_short());
  else if (!of_cpp && (in_time || script_shows))
    take_script_alone();
}

Verification Verifying::verify_cpp(const Program &program, const std::function<bool()> &meanwhile,
                                   const std::function<void()> &complete) {
  const ReproFacts &facts = job_.facts;
  if (!repro_)
    repro_ = std::make_unique<ReproVerifier>();
  return repro_->verify(job_.folder, reproduction_marker(program, facts.signature), facts.signature,
                        {.repetition = facts.repetition,
                         .interrupted = job_.options().listener.interrupted,
                         .confinement = confinement_of(*job_.session.backend),
                         .meanwhile = meanwhile,
                         .complete = complete,
                         .python = facts.backend->parts().repro_in_python ? *python_ : "",
                         .any_compiler = !facts.backend->parts().generated}); // kernels fail under their own
}

void Verifying::take_script_alone() {
  ReproFacts &facts = job_.facts;
  facts.verified = facts.script.verified.value_or(false);
  facts.verify_message = *facts.verified ? "" : "repro.py: " + facts.script.message;
}

void Verifying::take_script_without_cpp(const std::string &why) {
  ReproFacts &facts = job_.facts;
  facts.verified = facts.script.verified.value_or(false);
  facts.verify_message = "repro.cpp was not built, as " + why;
}

void Verifying::take(const Verification &verification) {
  ReproFacts &facts = job_.facts;
  job_.say(Severity::Detail, "repro.cpp was built " +
                                 (verification.compiler.empty() ? "" : "by " + verification.compiler + " ") +
                                 (verification.with_precompiled_headers ? "with" : "without") + " precompiled headers");
  facts.verified = verification.same_failure;
  facts.verify_message = verification.same_failure ? "" : verification.message;
  if (!verification.has_tools)
    take_script_without_cpp(verification.message);
}

} // namespace repro_minify
