#include "pipeline/minify_job.h"

#include "core/programs.h"
#include "tasks/sandbox.h"

#include <filesystem>

#include <signal.h>
#include <sys/wait.h>

namespace repro_minify {
namespace {

enum OracleExit { Interesting = 0, AlsoInteresting = 101, Skip = 125, NotExecutable = 126, NotFound = 127 };

/// Runs the program in the process group of the caller, so that a signal that kills that group kills it too; a caller
/// that is killed alone does not leave it behind. The status as waitpid() has it; nothing where no process can be made.
std::optional<int> run_program(const std::string &program, const std::string &model) {
  return wait_for_program(start_program({.words = {program, model}, .ends_with_us = true}));
}

Verdict verdict_of_status(std::optional<int> ended) {
  Verdict verdict;
  if (!ended) {
    verdict.message = "the oracle could not be started: no process can be made";
    verdict.no_answer = true;
    return verdict;
  }
  const int status = *ended;
  if (!WIFEXITED(status)) {
    verdict.message = "the oracle was ended by signal " + std::to_string(WTERMSIG(status));
    verdict.no_answer = comes_from_outside(WTERMSIG(status));
    return verdict;
  }
  const int code = WEXITSTATUS(status);
  verdict.message = "the oracle's exit code is " + std::to_string(code);
  if (code == Interesting) {
    verdict.outcome = Verdict::Outcome::Fail;
    verdict.signatures = {{FailureKind::Interesting, "", ""}};
  } else if (code != Skip && code != NotExecutable && code != NotFound) {
    verdict.outcome = Verdict::Outcome::Pass;
  }
  return verdict;
}

bool is_also_interesting(std::optional<int> status) {
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == AlsoInteresting;
}

/// In the child: writes the candidate, asks, cleans up, or puts it aside.
void judge_candidate(const Program &program, const std::string &oracle, const fs::path &all, bool grad, Child &child) {
  const std::string name = canonical_hash(program);
  const fs::path folder = all / "candidates" / name, aside = all / "also-interesting";
  child.stage("saving the candidate");
  fs::create_directories(folder);
  save_program(program, folder.string(), grad, "candidate");
  child.stage("oracle");
  const std::optional<int> status = run_program(oracle, (folder / "candidate.pt").string());
  child.reply(to_json(verdict_of_status(status)));
  std::error_code ignored;
  if (is_also_interesting(status)) {
    fs::create_directories(aside, ignored);
    fs::rename(folder, aside / name, ignored); // there already: the same candidate
  }
  fs::remove_all(folder, ignored);
}

/// A candidate that cannot be saved, an oracle that hangs: nothing can be said.
Verdict oracle_verdict(const JobEnd &job_end) {
  Verdict verdict;
  if (job_end.ending == Ending::Replied)
    verdict = verdict_from_json(job_end.reply);
  else
    verdict.message =
        job_end.stage + ": " + to_string(job_end.ending) + (job_end.message.empty() ? "" : ", " + job_end.message);
  verdict.no_answer |= !is_answer(job_end);
  verdict.wall_seconds = std::chrono::duration<double>(job_end.wall).count();
  return verdict;
}

class OracleBackend final : public Backend {
public:
  explicit OracleBackend(std::string program) : program_(std::move(program)) {}
  std::string name() const override { return "oracle:" + program_; }
  std::string summary() const override { return "a program of your own"; }
  std::string title() const override { return "the oracle " + program_; }
  Compiled compile(torch::jit::Module) const override { throw UserError("an oracle compiles nothing"); }
  BackendSource source() const override { return {}; }

private:
  std::string program_;
};

} // namespace

InterestingnessTest external_oracle(const std::string &program, const std::string &folder, bool grad) {
  InterestingnessTest test;
  test.name = "oracle:" + program;
  test.identity = [program, grad] {
    Identity identity;
    identity.add("the oracle's path", program);
    identity.add_file("the oracle", program);
    identity.add("gradients", grad);
    return identity;
  };
  test.settings.grad = grad;
  test.job = [=](std::shared_ptr<const Program> candidate) -> Job {
    return [=](Child &child) { judge_candidate(*candidate, program, folder, grad, child); };
  };
  test.verdict_of = oracle_verdict;
  return test;
}

Job ask_oracle(const std::string &program, const std::string &model) {
  return [program, model](Child &child) {
    child.stage("oracle");
    child.reply(to_json(verdict_of_status(run_program(program, model))));
  };
}

std::shared_ptr<const Backend> oracle_backend(const std::string &program) {
  return std::make_shared<OracleBackend>(program);
}

std::string require_executable(const std::string &program) {
  std::error_code error;
  const fs::path path = fs::absolute(program, error).lexically_normal();
  if (!fs::is_regular_file(path, error))
    throw UserError("--oracle " + program + (fs::is_directory(path, error) ? ": is a folder" : ": no such file"));
  if (access(path.c_str(), X_OK) != 0)
    throw UserError("--oracle " + program + ": cannot be executed: " + std::strerror(errno) +
                    " (chmod +x, and a first line such as #!/bin/sh)");
  return path.string();
}

} // namespace repro_minify
