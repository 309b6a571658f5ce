#include "app/session.h"

#include <iostream>

namespace repro_minify {

int run_command(const Options &options) {
  Session session(options);
  const Verdict verdict = session.check_original();
  if (verdict.outcome == Verdict::Outcome::Unresolved && !verdict.eager_differs)
    throw UserError(options.model + ": cannot be checked: " + verdict.message);
  if (options.json)
    std::cout << verdict_json(verdict, session) << '\n';
  else
    print_verdict(verdict, session);
  if (verdict.eager_differs)
    return EagerNotReproducible;
  return verdict.outcome == Verdict::Outcome::Fail ? 1 : 0;
}

} // namespace repro_minify
