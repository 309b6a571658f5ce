#include "app/options.h"
#include "app/print_verdict.h"
#include "app/progress.h"

#include "support/log.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

namespace repro_minify {
namespace {

constexpr int timed_calls = 9;

/// Times are worth having where both sides run to the end.
bool runs_to_the_end(const Verdict &verdict) {
  if (verdict.outcome == Verdict::Outcome::Unresolved)
    return false;
  for (const auto &signature : verdict.signatures)
    if (!is_comparison(signature.kind))
      return false;
  return true;
}

/// What --dump-stage asks for is written by a child, where nobody sees its standard error.
class StageDump {
public:
  explicit StageDump(BackendOptions &options) {
    if (options.dumped_stages.empty())
      return;
    path_ = (std::filesystem::temp_directory_path() / "repro-minify-stages-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0)
      throw UserError("--dump-stage: no temporary file can be made");
    close(file);
    options.dump_file = path_;
  }
  ~StageDump() {
    std::error_code ignored;
    if (!path_.empty())
      std::filesystem::remove(path_, ignored);
  }
  StageDump(const StageDump &) = delete;
  StageDump &operator=(const StageDump &) = delete;

  /// Prints what is there, and nothing of what later runs write.
  void print(std::ostream &out) const {
    if (path_.empty())
      return;
    out << std::ifstream(path_).rdbuf() << std::flush;
    out.clear(); // an empty file is no error
  }

private:
  std::string path_;
};

} // namespace

int run_command(const Options &options) {
  ProgressPrinter progress(options.quiet);
  MinifyOptions how = minify_options(options);
  how.listener = listener_on_terminal(progress);
  const StageDump dump(how.backend_options);
  Session session(options.model, how);
  require_one_backend(session);
  const FailureRate rate = session.check_original();
  dump.print(options.json ? std::cerr : std::cout);
  const Verdict &verdict = rate.verdict;
  require_checkable(session, verdict);
  if (verdict.eager_failed)
    log::error(eager_problem(session, verdict));
  warn_of_missing_reference(session, verdict);
  RunFacts facts;
  if (runs_to_the_end(verdict))
    facts.timing = measure_timing(session.original(), session.backend, session.check, timed_calls, session.limits());
  if (runs_to_the_end(verdict) && verdict.outcome == Verdict::Outcome::Fail)
    facts.reads_unwritten =
        reads_unwritten_memory(session.original(), session.backend, session.check, session.limits());
  if (options.json)
    std::cout << verdict_json(rate, facts, session) << '\n';
  else
    print_verdict(rate, facts, session);
  if (verdict.eager_failed)
    return EagerNotReproducible;
  return rate.failed >= options.need ? 1 : 0;
}

} // namespace repro_minify
