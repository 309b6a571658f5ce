// Verification: repro.cpp is built and run in a folder of its own before it is handed over. And the CMakeLists.txt that
// it is built with.
#include "core/programs.h"
#include "repro/render.h"
#include "repro/repro_py.h"
#include "repro/results_folder.h"
#include "repro/script_run.h"
#include "repro/verifiers.h"
#include "tasks/compiler.h"

#include "repro_minify/backend_parts.h"

#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

/// True if the machine lacks room, memory or processes, or the process was killed: that says nothing of what is built
/// and run.
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

/// Returns the header of LibTorch that the source includes; empty for one that only runs repro.py.
std::string first_header_of(const fs::path &source) {
  const char *header = "torch/script.h";
  return read_file(source).find(std::string("#include <") + header + ">") != std::string::npos ? header : "";
}

bool is_built(const JobEnd &job_end) {
  return job_end.ending == Ending::Exited && job_end.exit_code == 0;
}

/// Builds the project, if need be without its precompiled header, which must not be why a repro does not verify.
JobEnd build(ProjectBuild &project, const std::function<bool()> &interrupted) {
  const auto finish = [&] {
    return until_answered([&] { return project.finish(interrupted); }, is_trouble_of_the_machine, interrupted);
  };
  JobEnd job_end = finish();
  if (!is_built(job_end) && job_end.ending != Ending::Cancelled && project.leave_out_precompiled())
    job_end = finish();
  if (is_built(job_end))
    project.forget_precompiled();
  return job_end;
}

/// Empty if it was built.
std::string problem_of(const JobEnd &job_end) {
  if (is_built(job_end))
    return "";
  if (is_trouble_of_the_machine(job_end))
    return "the machine could not build repro.cpp, which says nothing of it: " +
           last_part(job_end.message + job_end.output_tail);
  return "repro.cpp does not build: " + last_part(job_end.output_tail);
}

std::vector<std::string> options_with(const std::string &compiler) {
  std::vector<std::string> options = {"-DCMAKE_PREFIX_PATH=" + torch_prefix_in_use(REPRO_MINIFY_TORCH_PREFIX)};
  if (!compiler.empty())
    options.push_back("-DCMAKE_CXX_COMPILER=" + compiler);
  return options;
}

bool is_the_same_text(const fs::path &one, const fs::path &other) {
  std::error_code none;
  return fs::exists(other, none) && read_file(one) == read_file(other);
}

/// CMake configures anew what is younger than its own files: the same text is left as it is.
void copy_results(const std::string &from, const fs::path &to) {
  for (const auto &entry : fs::directory_iterator(from)) // the journal and the like are not needed, and do no harm
    if (const fs::path copy = to / entry.path().filename();
        is_of_this_run(entry.path()) && !is_the_same_text(entry.path(), copy))
      fs::copy_file(entry.path(), copy, fs::copy_options::overwrite_existing);
}

} // namespace

std::string repro_cmake_lists(const std::vector<std::string> &libraries, bool has_operators) {
  const bool cuda = fs::exists(torch_prefix_in_use(REPRO_MINIFY_TORCH_PREFIX) + "/lib/libtorch_cuda.so");
  return render("CMakeLists.txt.tpl",
                {{"cuda", cuda}, {"cpu", !cuda}, {"libraries", libraries}, {"has_operators", has_operators}});
}

ReproVerifier::Build::Build(const TemporaryFolder &source, const std::string &compiler)
    : compiler(compiler), header(first_header_of(source / "repro.cpp")),
      folder(source / (compiler.empty() ? "build" : "build-" + compiler)),
      project(source.path(), folder, options_with(compiler), header) {}

void ReproVerifier::configure(const Backend &backend, bool has_operators) {
  const BackendParts parts = backend.parts();
  if (parts.repro_in_python || parts.generated) // what these need is known with the program alone
    return;
  // Nearly every repro is one file that reads LibTorch's headers.
  std::ofstream(results_ / "CMakeLists.txt") << repro_cmake_lists(backend.source().libraries, has_operators);
  std::ofstream(results_ / "repro.cpp") << "#include <torch/script.h>\nint main() {}\n";
  expected_.emplace(results_, find_quick_compiler());
  expected_->project.configure();
}

Verification ReproVerifier::verify(const std::string &folder, const std::string &marker, const Signature &wanted,
                                   const VerifyOptions &options) {
  given_ = folder;
  marker_ = marker;
  wanted_ = wanted;
  options_ = options;
  const std::string quick = options_.any_compiler ? find_quick_compiler() : "";
  begin_build(quick);
  has_script_ = options_.meanwhile && options_.meanwhile();
  if (options_.complete) {
    options_.complete();
    begin_build(quick);
  }
  if (is_python() && has_script_)
    fs::copy_file(given_ / "repro.py", results_ / "repro.py", fs::copy_options::overwrite_existing);
  // Where repro.cpp runs repro.py it is one more run of it, and what memory holds may decide how that one ends.
  const Verification in_python{!is_python() || has_script_, "it does not show the failure"};
  Verification in_cpp = build_and_run(*expected_);
  in_cpp.compiler = quick;
  if (!in_cpp.same_failure && !quick.empty() && !is_interrupted()) {
    Build as_chosen(results_, "");
    in_cpp = build_and_run(as_chosen);
  }
  return !in_cpp.same_failure || in_python.same_failure ? in_cpp
                                                        : Verification{false, "repro.py: " + in_python.message};
}

/// Begins to build what is in the folder by now. A build of the same source that was begun goes on.
void ReproVerifier::begin_build(const std::string &compiler) {
  copy_results(given_.string(), results_.path());
  const std::string source = read_file(results_ / "repro.cpp");
  if (expected_ && (expected_->compiler != compiler || expected_->header != first_header_of(results_ / "repro.cpp")))
    expected_.reset();
  if (expected_ && source == begun_)
    return;
  begun_ = source;
  if (!expected_)
    expected_.emplace(results_, compiler);
  expected_->project.start(options_.interrupted);
}

Verification ReproVerifier::run(const std::vector<std::string> &command,
                                const std::function<Verification(const ReproRun &)> &judge) const {
  Confinement confinement = options_.confinement;
  confinement.readable.push_back(results_.path());
  confinement.writable.push_back(printed_.path());
  return verify_repeatedly([&] { return run_repro(command, printed_.path(), options_.interrupted, confinement); },
                           judge, options_.repetition, options_.interrupted);
}

Verification ReproVerifier::build_and_run(Build &repro) const {
  const JobEnd job_end = build(repro.project, options_.interrupted);
  if (job_end.ending == Ending::Exited && job_end.exit_code == 127)
    return {.message = "no CMake was found", .has_tools = false};
  if (!is_built(job_end) && find_compiler().empty())
    return {.message = "no C++ compiler was found", .has_tools = false};
  if (const std::string problem = problem_of(job_end); !problem.empty())
    return {false, problem};
  const bool runs_script = is_python() && !has_package();
  const std::string script = runs_script ? read_file(results_ / "repro.py") : "";
  const auto judge = [&](const ReproRun &ended) {
    return runs_script ? judge_script(ended, script, wanted_) : judge_run(ended, marker_, wanted_);
  };
  std::vector<std::string> words = with_home(printed_.path());
  const std::string python = is_python() ? options_.python : "python3";
  words.insert(words.end(), {"REPRO_PYTHON=" + python, repro.folder + "/repro"});
  Verification result = run(words, judge);
  result.with_precompiled_headers = repro.project.had_precompiled();
  return result;
}

} // namespace repro_minify
