// Makes model.pt2 beside the verification.
#include "pipeline/minify_job.h"
#include "program/compute.h"
#include "repro/reported.h"
#include "repro/repro_py.h"
#include "repro/results_folder.h"
#include "repro_minify/backend_parts.h"
#include "tasks/sandbox.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace repro_minify {
namespace {

std::string not_compiled_in_time(const MinifyJob &job) {
  return job.why_cut_short() + " before it was compiled ahead of time";
}

/// Why there is no package; empty if there is one.
std::string why_none(const MinifyJob &job, const JobEnd &job_end) {
  if (job_end.ending == Ending::Cancelled)
    return not_compiled_in_time(job);
  try {
    require_reply(job_end);
    return job_end.reply;
  } catch (const std::exception &error) {
    return "it cannot be compiled ahead of time: " + first_sentence(error.what());
  }
}

} // namespace

PackageTask begin_package(MinifyJob &job, const Program &program) {
  ReproFacts &facts = job.facts;
  if (!facts.backend->parts().repro_in_python || !has_cpp(facts) || job.has_oracle())
    return nullptr;
  std::error_code none;
  fs::remove(job.folder + "/model.pt2", none); // of an earlier run into the same folder
  facts.no_package_because = why_no_package(facts);
  if (facts.no_package_because.empty() && facts.interrupted)
    facts.no_package_because = not_compiled_in_time(job);
  if (!facts.no_package_because.empty())
    return nullptr;
  const auto write = [&](Child &child) { child.reply(write_package(program, job.facts, job.folder)); };
  return std::make_unique<Task<JobEnd>>(write, generous_limits());
}

void finish_package(MinifyJob &job, const Program &program, PackageTask &task) {
  if (!task)
    return;
  const JobEnd job_end = std::exchange(task, nullptr)->wait([&] { return job.options().listener.stops(); });
  job.facts.no_package_because = why_none(job, job_end);
  if (!job.facts.no_package_because.empty() && is_of_this_run(job.folder + "/repro.cpp"))
    write_runner(program, job.facts, job.folder);
}

} // namespace repro_minify
