#include "repro_minify/reducer.h"

#include "check/device_service.h"
#include "check/module_factory.h"
#include "repro_minify/backend_parts.h"

namespace repro_minify {

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
  test.job = [service = device_service(backend, options), backend,
              options](std::shared_ptr<const Program> program) -> Job {
    if (service)
      return check_by(service, std::move(program));
    return check_job(factory_for(std::move(program), *backend), backend, options);
  };
  test.verdict_of = [](const JobEnd &job_end) { return verdict_of(job_end); };
  return test;
}

} // namespace repro_minify
