// model.pt2, of a backend that is used from Python. It takes a compiler eight seconds and depends on nothing but the
// reduced program, so it is made beside all that comes after the search.
#pragma once
#include "pipeline/minify_job.h"
#include "tasks/task.h"

#include <memory>

namespace repro_minify {

/// Null where there is none to make, or no longer.
using PackageTask = std::unique_ptr<Task<JobEnd>>;

/// Begins with it, where there can be one; if there cannot, job.facts say why. Both have to live as long.
PackageTask begin_package(MinifyJob &job, const Program &program);
/// Takes the package if it is made by now, before repro.cpp is written for it: if there is none, job.facts say why.
void look_at_package(MinifyJob &job, PackageTask &task);
/// Waits for the package, unless interrupted. Where there is none after all, a repro.cpp that was written for one is
/// written anew.
void finish_package(MinifyJob &job, PackageTask &task);

} // namespace repro_minify
