#include "reduce/reloaded.h"

#include "repro_minify/archive.h"

namespace repro_minify {

InterestingnessTest reloading_test(std::shared_ptr<const Backend> backend, const CheckOptions &options) {
  InterestingnessTest test = interestingness_test(backend, options);
  test.identity = [of_the_check = test.identity] {
    Identity identity = of_the_check();
    identity.add("candidates are reloaded", true);
    return identity;
  };
  test.job = [backend = std::move(backend), options](std::shared_ptr<const Program> program) {
    const ModuleFactory factory = [program = std::move(program)](const InstantiateOptions &how) {
      return instantiate_reloaded(*program, how);
    };
    return check_job(factory, backend, options);
  };
  return test;
}

} // namespace repro_minify
