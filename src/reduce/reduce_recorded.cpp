#include "reduce/reduce_recorded.h"

#include "check/compare_runs.h"
#include "check/device_service.h"
#include "core/text.h"
#include "repro_minify/archive.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>
#include <string>

namespace repro_minify {
namespace {

void add_earlier(PassStatistics &row, const PassStatistics &earlier, bool is_continued) {
  row.runs += earlier.runs;
  row.tried += earlier.tried;
  row.worked += earlier.worked;
  row.checks += earlier.checks;
  row.seconds += earlier.seconds;
  if (is_continued)
    row.operators_removed += earlier.operators_removed;
  if (row.problem.empty())
    row.problem = earlier.problem;
}

bool has(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_known(const std::vector<std::string> &names, const std::string &option) {
  std::vector<std::string> known;
  for (const ReductionPass &pass : reduction_passes())
    known.emplace_back(pass.name);
  for (const auto &name : names)
    if (!has(known, name))
      throw UserError(option + " " + name + ": no such pass; --list-passes lists them" + did_you_mean(name, known));
}

/// On a device the test asks processes that are kept: each of them answers many candidates.
void keep_processes(InterestingnessTest &test, std::shared_ptr<const Backend> backend, const CheckOptions &options) {
  const auto service = device_service(std::move(backend), options);
  if (!service)
    return;
  test.fresh_job = std::move(test.job);
  test.job = [service](std::shared_ptr<const Program> program) { return check_by(service, std::move(program)); };
}

} // namespace

Reduction with_earlier(Reduction last, const Reduction &earlier, bool is_continued) {
  last.checks += earlier.checks;
  last.cached += earlier.cached;
  last.unanswered += earlier.unanswered;
  last.seconds += earlier.seconds;
  last.check_seconds += earlier.check_seconds;
  for (const PassStatistics &row : earlier.passes) {
    auto same = std::find_if(last.passes.begin(), last.passes.end(),
                             [&](const PassStatistics &other) { return other.pass == row.pass; });
    if (same == last.passes.end()) {
      same = last.passes.emplace(last.passes.end());
      same->pass = row.pass;
    }
    add_earlier(*same, row, is_continued);
  }
  return last;
}

std::vector<NamedRow> list_reduction_passes() {
  std::vector<NamedRow> rows;
  for (const auto &pass : reduction_passes())
    rows.push_back({pass.name, pass.summary});
  return rows;
}

std::vector<const ReductionPass *> selected_passes(const PassSelection &selection) {
  require_known(selection.only, "--passes");
  require_known(selection.skip, "--skip-pass");
  std::vector<const ReductionPass *> selected;
  for (const auto &pass : reduction_passes())
    if ((selection.only.empty() || has(selection.only, pass.name)) && !has(selection.skip, pass.name))
      selected.push_back(&pass);
  if (selected.empty())
    throw UserError("--passes, --skip-pass: no pass is left");
  return selected;
}

InterestingnessTest reloading_test(std::shared_ptr<const Backend> backend, const CheckOptions &options) {
  InterestingnessTest test = interestingness_test(backend, options);
  test.identity = [of_the_check = test.identity] {
    Identity identity = of_the_check();
    identity.add("candidates are reloaded", true);
    return identity;
  };
  test.job = [backend, options](std::shared_ptr<const Program> program) {
    const ModuleFactory factory = [program = std::move(program)](const InstantiateOptions &how) {
      return instantiate_reloaded(*program, how);
    };
    return check_job(factory, backend, options);
  };
  keep_processes(test, backend, options);
  return test;
}

InterestingnessTest interestingness_test(std::shared_ptr<const Backend> backend, const CheckOptions &options) {
  InterestingnessTest test;
  test.name = backend->name();
  test.identity = [backend, options] {
    Identity identity;
    identity.add("the backend", backend->name());
    identity.add_all(identity_of(options));
    identity.add_all(identity_of(*backend));
    return identity;
  };
  test.revive = [backend] { revive_backend(*backend); };
  test.settings = run_settings(*backend, options);
  test.job = [backend, options](std::shared_ptr<const Program> program) {
    return check_job(factory_for(std::move(program), *backend), backend, options);
  };
  keep_processes(test, backend, options);
  test.verdict_of = [](const JobEnd &job_end) { return verdict_of(job_end); };
  return test;
}

} // namespace repro_minify
