#include "repro/script_run.h"

#include "backends/in_python.h"
#include "repro_minify/backend_parts.h"

#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

constexpr std::chrono::minutes patience_of_others(5);

/// Importing torch is not part of the hang, but takes its time too.
std::chrono::milliseconds patience_for(const ReproFacts &facts) {
  const std::chrono::seconds import_time(30);
  return facts.signature.kind == FailureKind::Hang ? import_time + std::chrono::seconds(facts.hang_seconds)
                                                   : patience_of_others;
}

bool was_not_run(const ReproRun &run) {
  return run.job_end.ending != Ending::Cancelled && !is_answer(run.job_end);
}

} // namespace

std::pair<std::unique_ptr<Task<ReproRun>>, std::shared_ptr<const TemporaryFolder>>
start_script(const ScriptToRun &script, const ReproFacts &facts, const std::string &results) {
  const auto folder = std::make_shared<TemporaryFolder>();
  for (const auto *files : {&facts.libraries, &facts.modules})
    for (const auto &file : *files)
      fs::copy_file(fs::path(results) / file, *folder / file);
  for (const char *file : {"inputs.pt", "attributes.pt", "reduced.pt"})
    if (script.reads_files && fs::exists(fs::path(results) / file))
      fs::copy_file(fs::path(results) / file, *folder / file);
  for (const auto &[name, text] : script.files)
    std::ofstream(*folder / name) << text;
  Confinement confinement = confinement_of(*facts.backend);
  for (const auto &part : folders_of_python(script.python))
    confinement.readable.push_back(part);
  confinement.writable.push_back(folder->path());
  std::vector<std::string> words = with_home(folder->path());
  words.insert(words.end(), {script.python, "-B", *folder / script.files.front().first});
  return {start_repro(words, folder->path(), confinement, patience_for(facts), folder), folder};
}

Verification verify_repeatedly(const std::function<ReproRun()> &run,
                               const std::function<Verification(const ReproRun &)> &judge, const Repetition &repetition,
                               const std::function<bool()> &interrupted) {
  int failed = 0;
  Verification last;
  for (int i = 0; i < repetition.runs && failed < repetition.need; ++i) {
    last = judge(until_answered(run, was_not_run, interrupted));
    failed += last.same_failure;
  }
  if (failed < repetition.need && repetition.runs > 1)
    return {false, "repro failed in " + std::to_string(failed) + " of " + std::to_string(repetition.runs) +
                       " runs; of the last: " + last.message};
  return last;
}

} // namespace repro_minify
