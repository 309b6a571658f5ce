// Verification: repro.cpp is built and run in a folder of its own before it is handed over.
#include "emit/results_folder.h"
#include "emit/verify_repeatedly.h"
#include "support/loaded_library.h"
#include "support/read_file.h"
#include "support/temporary_folder.h"
#include "toolchain/compiler.h"
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

/// repro.cpp in the making, in a folder beside it.
struct ReproBuild {
  /// `compiler`: empty for the one that CMake chooses.
  ReproBuild(const TemporaryFolder &source, const std::string &compiler)
      : folder(source / (compiler.empty() ? "build" : "build-" + compiler)),
        project(source.path(), folder, options_with(compiler), first_header_of(source / "repro.cpp")) {}

  static std::vector<std::string> options_with(const std::string &compiler) {
    std::vector<std::string> options = {"-DCMAKE_PREFIX_PATH=" + torch_prefix_in_use(REPRO_MINIFY_TORCH_PREFIX)};
    if (!compiler.empty())
      options.push_back("-DCMAKE_CXX_COMPILER=" + compiler);
    return options;
  }

  const std::string folder;
  ProjectBuild project;
};

void copy_results(const std::string &from, const fs::path &to) {
  for (const auto &entry : fs::directory_iterator(from)) // the journal and the like are not needed, and do no harm
    if (is_of_this_run(entry.path()))
      fs::copy_file(entry.path(), to / entry.path().filename());
}

/// One reduction's results, in a folder of their own.
class Verifier {
public:
  Verifier(const std::string &folder, const std::string &marker, const Signature &wanted, const VerifyOptions &options)
      : given_(folder), marker_(marker), wanted_(wanted), options_(options) {
    copy_results(folder, results_.path());
  }

  Verification verify() {
    const std::string quick = options_.any_compiler ? find_quick_compiler() : "";
    ReproBuild quickest(results_, quick);
    quickest.project.start();
    has_script_ = options_.meanwhile && options_.meanwhile();
    if (is_python() && has_script_)
      fs::copy_file(given_ / "repro.py", results_ / "repro.py", fs::copy_options::overwrite_existing);
    Verification in_python{true, ""}; // without the package it is repro.py that repro.cpp runs
    if (has_package() && !has_script_)
      in_python = run({python(), results_ / "repro.py"}, judge_run);
    Verification in_cpp = build_and_run(quickest);
    in_cpp.compiler = quick;
    if (!in_cpp.same_failure && !quick.empty() && !is_interrupted()) {
      ReproBuild as_chosen(results_, "");
      in_cpp = build_and_run(as_chosen);
    }
    return !in_cpp.same_failure || in_python.same_failure ? in_cpp
                                                          : Verification{false, "repro.py: " + in_python.message};
  }

private:
  using Judge = Verification (*)(const ReproRun &, const std::string &, const Signature &);

  bool is_interrupted() const { return options_.interrupted && options_.interrupted(); }
  bool is_python() const { return !options_.python.empty(); }
  bool has_package() const { return fs::exists(results_ / "model.pt2"); }
  std::string python() const { return is_python() ? options_.python : "python3"; }

  Verification run(const std::vector<std::string> &command, Judge judge) const {
    Confinement confinement = options_.confinement;
    confinement.readable.push_back(results_.path());
    confinement.writable.push_back(printed_.path());
    return verify_repeatedly([&] { return run_repro(command, printed_.path(), options_.interrupted, confinement); },
                             [&](const ReproRun &run) { return judge(run, marker_, wanted_); }, options_.repetition,
                             options_.interrupted);
  }

  Verification build_and_run(ReproBuild &repro) const {
    if (const std::string problem = problem_of(build(repro.project, options_.interrupted)); !problem.empty())
      return {false, problem};
    Verification result = run({"env", "REPRO_PYTHON=" + python(), repro.folder + "/repro"},
                              is_python() && has_script_ && !has_package() ? judge_script : judge_run);
    result.with_precompiled_headers = repro.project.had_precompiled();
    return result;
  }

  const fs::path given_;
  const std::string &marker_;
  const Signature &wanted_;
  const VerifyOptions &options_;
  const TemporaryFolder results_, printed_;
  bool has_script_ = false;
};

} // namespace

Verification verify_repro(const std::string &folder, const std::string &marker, const Signature &wanted,
                          const VerifyOptions &options) {
  return Verifier(folder, marker, wanted, options).verify();
}

} // namespace repro_minify
