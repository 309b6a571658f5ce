#include "minify/package.h"

#include "emit/repro_py.h"
#include "emit/results_folder.h"
#include "program/compute.h"
#include "repro_minify/backend_parts.h"

#include <filesystem>
#include <system_error>

namespace repro_minify {

PackageInMaking::PackageInMaking(MinifyJob &job, const Program &program) : job_(job) {
  const ReproFacts &facts = job.facts;
  if (!facts.backend->parts().repro_in_python || job.has_oracle())
    return;
  std::error_code none;
  std::filesystem::remove(job.folder + "/model.pt2", none); // of an earlier run into the same folder
  if (const std::string why = why_no_package(facts); !why.empty())
    give_up(why);
  else if (!facts.interrupted)
    ticket_ = pool_.submit([&](Child &child) { child.reply(write_package(program, job.facts, job.folder)); },
                           generous_limits());
  else
    give_up(job_.why_cut_short() + " before it was compiled ahead of time");
}

void PackageInMaking::look() {
  if (!ticket_)
    return;
  if (pool_.ready(*ticket_))
    take(*pool_.wait(*ticket_));
  else if (job_.options().listener.stops())
    finish();
}

void PackageInMaking::finish() {
  if (!ticket_)
    return;
  if (const auto job_end = pool_.wait(*ticket_, [&] { return job_.options().listener.stops(); })) {
    take(*job_end);
  } else {
    pool_.cancel(*ticket_);
    give_up(job_.why_cut_short() + " before it was compiled ahead of time");
  }
  if (!job_.facts.no_package_because.empty() && is_of_this_run(job_.folder + "/repro.cpp"))
    write_runner(job_.facts, job_.folder);
}

void PackageInMaking::take(const JobEnd &job_end) {
  try {
    require_reply(job_end);
    give_up(job_end.reply); // nothing, as a rule
  } catch (const std::exception &error) {
    give_up("it cannot be compiled ahead of time: " + first_sentence(error.what()));
  }
}

void PackageInMaking::give_up(const std::string &why) {
  ticket_.reset();
  job_.facts.no_package_because = why;
}

} // namespace repro_minify
