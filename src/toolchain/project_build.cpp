#include "toolchain/project_build.h"

#include "tasks/task.h"

#include "core/become_program.h"
#include "core/find_program.h"
#include "core/start_program.h"
#include "repro_minify/confinement.h"
#include "repro_minify/sandbox.h"
#include "toolchain/compile_command.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace repro_minify {
namespace {

Limits limits() {
  Limits limits;
  limits.timeout = std::chrono::minutes(20);
  return limits;
}

/// Sets TMPDIR to a folder that is removed with this run, for the files that killed children leave.
void own_temporary_folder() {
  setenv("TMPDIR", private_folder_of_children().c_str(), 1);
}

} // namespace

ProjectBuild::ProjectBuild(std::string source, std::string build, std::vector<std::string> options, std::string header)
    : source_(std::move(source)), build_(std::move(build)), options_(std::move(options)),
      header_name_(std::move(header)) {}

std::vector<std::string> ProjectBuild::configuration() const {
  std::vector<std::string> words = {"cmake", "-S", source_, "-B", build_, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"};
  words.insert(words.end(), options_.begin(), options_.end());
  if (!find_program("ninja").empty())
    words.insert(words.end(), {"-G", "Ninja"});
  return words;
}

void ProjectBuild::configure() {
  const auto job = [this](Child &) {
    own_temporary_folder();
    become_program(configuration());
  };
  configuring_ = std::make_unique<Task<JobEnd>>(job, limits());
}

bool ProjectBuild::is_configured(const std::function<bool()> &interrupted) {
  if (!configuring_)
    return false;
  const JobEnd job_end = std::exchange(configuring_, nullptr)->wait(interrupted);
  return job_end.ending == Ending::Exited && job_end.exit_code == 0;
}

void ProjectBuild::start(const std::function<bool()> &interrupted) {
  const bool configured = is_configured(interrupted);
  building_ = std::make_unique<Task<JobEnd>>([this, configured](Child &) { build(configured); }, limits());
}

void ProjectBuild::build(bool is_configured) const {
  own_temporary_folder();
  if (!is_configured)
    if (const int code = exit_code_of(wait_for_program(start_program({.words = configuration()}))); code != 0)
      _exit(code);
  if (precompiled_)
    if (const auto variable = header().make())
      setenv(variable->first.c_str(), variable->second.c_str(), 1);
  become_program({"cmake", "--build", build_});
}

JobEnd ProjectBuild::finish(const std::function<bool()> &interrupted) {
  if (!building_)
    start(interrupted);
  return std::exchange(building_, nullptr)->wait(interrupted);
}

KeptHeader ProjectBuild::header() const {
  return {header_name_, compile_command_of(build_)};
}

bool ProjectBuild::had_precompiled() const {
  return precompiled_ && header().is_there();
}

bool ProjectBuild::leave_out_precompiled() {
  if (!had_precompiled())
    return false;
  precompiled_ = false;
  return true;
}

void ProjectBuild::forget_precompiled() const {
  if (!precompiled_)
    header().leave_out();
}

} // namespace repro_minify
