#include "reduce/assuming_checker.h"

namespace repro_minify {
namespace {

const Verdict &no() {
  static const Verdict no = [] {
    Verdict verdict;
    verdict.outcome = Verdict::Outcome::Pass;
    return verdict;
  }();
  return no;
}

} // namespace

const Verdict &AssumingChecker::check(const Program &program, const std::vector<LazyProgram> &) {
  leave_if_over();
  std::string hash = canonical_hash(program);
  if (const Verdict *verdict = checker_.foreseen(hash))
    return *verdict;
  auto assumed = assumed_.find(hash);
  if (assumed == assumed_.end()) {
    if (const Verdict *verdict = checker_.in_vain(hash))
      return *verdict;
    if (goal().cannot_fail(program))
      return no();
    dry_run_.leave_at({program, std::move(hash)});
  }
  return assumed->second ? yes_ : no();
}

const Verdict &AssumingChecker::check_in_full(const Program &program) {
  const Verdict &verdict = check(program, {});
  const bool assumed = &verdict == &yes_ || &verdict == &no();
  if (assumed && static_cast<size_t>(size_of(program).outputs) != yes_.outputs.size())
    dry_run_.end();
  return verdict;
}

} // namespace repro_minify
