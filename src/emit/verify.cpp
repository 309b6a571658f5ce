// Verification: repro.cpp is built and run in a folder of its own before it is handed over.
#include "emit/results_folder.h"
#include "emit/verify_repeatedly.h"
#include "support/loaded_library.h"
#include "support/read_file.h"
#include "support/temporary_folder.h"
#include "toolchain/project_build.h"

#include <filesystem>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

std::string last_lines(const std::string &text) {
  const size_t size = std::min<size_t>(text.size(), 600);
  return text.substr(text.size() - size);
}

/// No room, no memory, no process, or somebody who kills: that says nothing of what is built and run.
bool is_trouble_of_the_machine(const JobEnd &job_end) {
  if (job_end.ending == Ending::Cancelled)
    return false;
  if (!is_answer(job_end))
    return true;
  for (const char *sign : {"No space left on device", "Killed signal", "Cannot allocate memory",
                           "Resource temporarily unavailable", "Disk quota exceeded"})
    if (job_end.ending == Ending::Exited && job_end.exit_code != 0 &&
        job_end.output_tail.find(sign) != std::string::npos)
      return true;
  return false;
}

/// Of LibTorch; one that only runs repro.py has none of it.
std::string first_header_of(const fs::path &source) {
  const char *header = "torch/script.h";
  return read_file(source).find(std::string("#include <") + header + ">") != std::string::npos ? header : "";
}

bool is_built(const JobEnd &job_end) {
  return job_end.ending == Ending::Exited && job_end.exit_code == 0;
}

/// What was precompiled is never why a repro does not verify: one that cannot be built with it is built without.
JobEnd build(ProjectBuild &project, const std::function<bool()> &interrupted) {
  const auto finish = [&] {
    return until_answered([&] { return project.finish(interrupted); }, is_trouble_of_the_machine, interrupted);
  };
  JobEnd job_end = finish();
  if (!is_built(job_end) && job_end.ending != Ending::Cancelled && project.leave_out_precompiled())
    job_end = finish();
  if (is_built(job_end))
    project.precompile_for_the_next();
  return job_end;
}

/// Empty if it was built.
std::string problem_of(const JobEnd &job_end) {
  if (is_built(job_end))
    return "";
  if (is_trouble_of_the_machine(job_end))
    return "the machine could not build repro.cpp, which says nothing of it: " +
           last_lines(job_end.message + job_end.output_tail);
  return job_end.exit_code == 127 ? "cmake was not found; install it, or use --no-verify"
                                  : "repro.cpp does not build: " + last_lines(job_end.output_tail);
}

void copy_results(const std::string &from, const fs::path &to) {
  for (const auto &entry : fs::directory_iterator(from)) // the journal and the like are not needed, and do no harm
    if (is_of_this_run(entry.path()))
      fs::copy_file(entry.path(), to / entry.path().filename());
}

} // namespace

Verification verify_repro(const std::string &folder, const std::string &marker, const Signature &wanted,
                          const VerifyOptions &options) {
  const TemporaryFolder temporary, printed;
  copy_results(folder, temporary.path());
  const std::string built = temporary / "build";
  ProjectBuild project(temporary.path(), built,
                       {"-DCMAKE_PREFIX_PATH=" + torch_prefix_in_use(REPRO_MINIFY_TORCH_PREFIX)},
                       first_header_of(temporary / "repro.cpp"));
  project.start();
  Confinement confinement = options.confinement;
  confinement.readable.push_back(temporary.path());
  confinement.writable.push_back(printed.path());
  const auto verify = [&](const std::vector<std::string> &command, const auto &judge) {
    return verify_repeatedly([&] { return run_repro(command, printed.path(), options.interrupted, confinement); },
                             [&](const ReproRun &run) { return judge(run, marker, wanted); }, options.repetition,
                             options.interrupted);
  };
  const bool has_script = options.meanwhile && options.meanwhile();
  const bool is_python = !options.python.empty(), has_package = fs::exists(temporary / "model.pt2");
  const std::string python = is_python ? options.python : "python3";
  if (is_python && has_script)
    fs::copy_file(fs::path(folder) / "repro.py", temporary / "repro.py", fs::copy_options::overwrite_existing);
  Verification in_python{true, ""}; // without the package it is repro.py that repro.cpp runs
  if (has_package && !has_script)
    in_python = verify({python, temporary / "repro.py"}, judge_run);
  if (const std::string problem = problem_of(build(project, options.interrupted)); !problem.empty())
    return {false, problem};
  Verification in_cpp = verify({"env", "REPRO_PYTHON=" + python, built + "/repro"},
                               is_python && has_script && !has_package ? judge_script : judge_run);
  in_cpp.with_precompiled_headers = project.had_precompiled();
  return !in_cpp.same_failure || in_python.same_failure ? in_cpp
                                                        : Verification{false, "repro.py: " + in_python.message};
}

} // namespace repro_minify
