// The main command: minify(), with what it says printed.
#include "cli/interruption.h"
#include "cli/options.h"
#include "cli/progress_printer.h"
#include "core/log.h"
#include "core/number_text.h"
#include "core/text.h"
#include "repro/reported.h"
#include "repro/results_folder.h"
#include "repro_minify/minify.h"
#include "repro_minify/repro.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <vector>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// A row for each pass that tried anything, or removed something.
std::string passes_table(const Reduction &reduction) {
  std::vector<std::vector<std::string>> rows = {
      {"pass", "turns", "tried", "worked", "operators removed", "checks", "seconds"}};
  for (const auto &pass : reduction.passes)
    if (pass.tried > 0 || pass.operators_removed != 0)
      rows.push_back({pass.pass, std::to_string(pass.runs), std::to_string(pass.tried), std::to_string(pass.worked),
                      std::to_string(pass.operators_removed), std::to_string(pass.checks), rounded_text(pass.seconds)});
  std::string table = table_text(rows);
  table.pop_back();
  return "what each pass did:\n" + table;
}

/// A row for each phase of the whole job.
std::string phases_table(const ReproFacts &facts) {
  std::vector<std::vector<std::string>> rows = {{"phase", "seconds"}};
  for (const auto &[name, seconds] : facts.phases)
    rows.push_back({name, rounded_text(seconds)});
  return "where the time went:\n" + table_text(rows);
}

/// It was to be verified, and the machine gave no process or no memory for it.
bool has_no_answer(const ReproFacts &facts) {
  return !facts.verified.has_value() && !facts.verify_message.empty();
}

/// It was to be verified, and the time budget was spent before it could be.
bool had_no_time(const Options &options, const ReproFacts &facts) {
  return !options.no_verify && facts.out_of_time && !facts.verified.has_value();
}

void say_what_came_of(const Options &options, const Result &result) {
  const ReproFacts &facts = result.facts;
  if (facts.out_of_time)
    log::warning("the time budget is spent: this is the best so far; --resume goes on from here");
  if (facts.not_reduced)
    log::warning("handed back as it was given, NOT REDUCED: " + *facts.not_reduced);
  else
    log::info("from " + counted(facts.before.operators, "operator") + " to " + std::to_string(facts.after.operators) +
              " in " + counted(facts.checks, "check") +
              (facts.one_minimal ? "" : "; not shown to be 1-minimal: " + joined(facts.not_shown_because, "; ")));
  if (had_no_time(options, facts))
    log::error("THE REPRO IS NOT VERIFIED: " + facts.verify_message);
  else if (has_no_answer(facts))
    log::error("it is not known whether the repro verifies: " + facts.verify_message + "; --resume asks again");
  if (facts.verified.has_value() && !*facts.verified)
    log::error("THE REPRO DID NOT VERIFY: " + facts.verify_message);
  else if (facts.verified.has_value() && !facts.verify_message.empty())
    log::warning("repro.py is verified; " + facts.verify_message);
}

/// The file of its folder that shows the failure.
const char *main_file(const Result &result) {
  for (const char *name : {"repro.cpp", "repro.py"})
    if (is_of_this_run(result.folder + "/" + name))
      return name;
  return "reduced.pt";
}

/// Says what came of the job and returns the exit code. It is 130 exactly where report.json says `interrupted`: a
/// script may look at either.
int conclude(const Options &options, const Result &result) {
  log::debug(phases_table(result.facts));
  if (result.facts.interrupted) {
    log::warning("interrupted; the best so far is in " + result.folder +
                 (is_verified(result.facts) ? "" : " (not verified)"));
    return InterruptedByUser;
  }
  say_what_came_of(options, result);
  std::cout << result.folder << "/" << main_file(result) << "\n";
  if (had_no_time(options, result.facts))
    return NotVerified;
  if (has_no_answer(result.facts))
    return InternalError;
  return result.facts.verified.value_or(true) ? ReducedAndVerified : NotVerified;
}

/// Says how one reduction ended, and returns the exit code.
int come_to_an_end(const Options &options, const Result &result, ProgressPrinter &progress) {
  progress.finish();
  switch (result.ending) {
  case Result::Ending::DoesNotFail:
    log::error(result.why);
    return exit_code_unless_stopped(DoesNotFail);
  case Result::Ending::EagerNotReproducible:
    log::error(result.why);
    return exit_code_unless_stopped(EagerNotReproducible);
  case Result::Ending::Interrupted:
    log::warning("interrupted before there was anything to keep");
    return InterruptedByUser;
  case Result::Ending::Minimised:
  case Result::Ending::HandedBack:
    break;
  }
  return conclude(options, result);
}

/// The exit code of a series is the gravest of its failures.
int conclude_all(const Options &options, const AllFailures &found) {
  int code = ReducedAndVerified;
  for (const Result &failure : found.failures)
    code = std::max(code, conclude(options, failure));
  const size_t count = found.failures.size();
  const std::string text = counted(count, "failure") + " of " + clean(options.model) + ": see " +
                           clean(output_folder(options, ".repro")) + "/index.html; ";
  if (found.passes)
    log::info(text + "without what they need, it passes");
  else
    log::warning(text + "whether there are more is not known: " + found.why);
  return exit_code_unless_stopped(static_cast<ExitCode>(code));
}

/// Where it has to be ended while it computes, the report is not written, or not whole.
std::string last_words(const std::string &folder, bool search_has_begun) {
  std::error_code error;
  if (search_has_begun && fs::exists(folder + "/1/reduced.pt", error))
    return "interrupted while it computed; what was saved is in the folders of " + clean(folder) +
           ", and --resume goes on from here";
  if (!search_has_begun || !fs::exists(folder + "/reduced.pt", error))
    return "interrupted before there was anything to keep";
  fs::remove(folder + "/report.json", error); // it would not say so
  return "interrupted while it computed; the best that was saved is in " + clean(folder) +
         " (not verified), and --resume goes on from here";
}

/// Before the search the folder may hold what an earlier run left.
void keep_what_is_saved(MinifyOptions &how) {
  const auto has_begun = std::make_shared<std::atomic<bool>>(false);
  when_ended_unheeded([folder = how.folder, has_begun] { return last_words(folder, *has_begun); });
  how.listener.begun = [has_begun, also = how.listener.begun](const ProgramSize &size) {
    *has_begun = true;
    if (also)
      also(size);
  };
}

} // namespace

int minify_command(const Options &options) {
  ProgressPrinter progress(options.quiet, factory_of(options));
  MinifyOptions how = minify_options(options, progress);
  keep_what_is_saved(how);
  how.listener.reduced = [&progress](const Reduction &reduction) {
    progress.hide();
    if (!reduction.passes.empty() && reduction.checks + reduction.cached > 0)
      log::info(passes_table(reduction));
  };
  if (!options.all)
    return come_to_an_end(options, minify(options.model, how), progress);
  const AllFailures found = minify_all(options.model, how);
  if (!has_repro(found.failures.front()))
    return come_to_an_end(options, found.failures.front(), progress);
  progress.finish();
  return conclude_all(options, found);
}

} // namespace repro_minify
