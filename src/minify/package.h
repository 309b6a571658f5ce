// model.pt2, of a backend that is used from Python. It takes a compiler eight seconds and depends on nothing but the
// reduced program, so it is made beside all that comes after the search.
#pragma once
#include "minify/minify_job.h"
#include "repro_minify/sandbox.h"

#include <optional>

namespace repro_minify {

class PackageInMaking {
public:
  /// Begins with it, where there can be one. Both have to live as long.
  PackageInMaking(MinifyJob &job, const Program &program);

  /// Takes the package if it is made by now, before repro.cpp is written for it: if there is none, job.facts say why.
  void look();
  /// Waits for the package, unless interrupted. Where there is none after all, a repro.cpp that was written for one is
  /// written anew.
  void finish();

private:
  void take(const JobEnd &job_end);
  void give_up(const std::string &why);

  MinifyJob &job_;
  SandboxPool pool_{1};
  std::optional<SandboxPool::Ticket> ticket_; ///< while it is made
};

} // namespace repro_minify
