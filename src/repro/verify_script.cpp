// repro.py is run in an interpreter of its own before it is handed over.
#include "backends/in_python.h"
#include "program/compute.h"
#include "repro/results_folder.h"
#include "repro/script_run.h"
#include "repro/verifiers.h"
#include "repro_minify/backend_parts.h"

#include <chrono>
#include <exception>
#include <filesystem>

namespace repro_minify {
namespace {

/// Written in a child: tensors are looked at.
ReproScripts scripts_of(const Program &program, const ReproFacts &facts) {
  Limits limits;
  limits.timeout = std::chrono::minutes(1);
  const auto written = compute_in_child(
      [&](Child &) -> c10::IValue {
        const ReproScripts scripts = repro_scripts(program, facts);
        json list = json::array();
        for (const auto &script : scripts.scripts)
          list.push_back({script.text, script.statement, script.reads_files, script.test});
        return json{{"scripts", list}, {"none_because", scripts.none_because}}.dump(-1, ' ', true,
                                                                                    json::error_handler_t::replace);
      },
      limits);
  const json read = json::parse(written.toStringRef());
  ReproScripts scripts{{}, read.at("none_because")};
  for (const json &one : read.at("scripts"))
    scripts.scripts.push_back({one.at(0), one.at(1), one.at(2), one.at(3)});
  return scripts;
}

constexpr int most_tried_of_chance = 2;
} // namespace

void ScriptVerifier::begin(const Program &program, const ReproFacts &facts) {
  facts_ = &facts;
  begun_ = std::chrono::steady_clock::now();
  try {
    scripts_ = scripts_of(program, facts);
    if (scripts_.scripts.empty() || python_.empty())
      return;
    start(scripts_.scripts.front());
    is_started_ = true;
  } catch (...) {
    problem_ = std::current_exception();
  }
}

/// Starts a Python on one script, in a folder of its own, beside the libraries that it loads.
std::unique_ptr<Task<ReproRun>> ScriptVerifier::started(const ReproScripts::Script &given, const char *name,
                                                        const std::string &text) const {
  const ScriptToRun script{.python = python_, .files = {{name, text}}, .reads_files = given.reads_files};
  return start_script(script, *facts_, folder_).first;
}

Verification ScriptVerifier::verify(const ReproScripts::Script &script, const std::function<bool()> &interrupted) {
  const auto run = [&] {
    if (!std::exchange(is_started_, false))
      start(script);
    return process_->wait(interrupted);
  };
  return verify_repeatedly(
      run, [&](const ReproRun &ended) { return judge_script(ended, script.text, facts_->signature); },
      facts_->repetition, interrupted);
}

/// Null where there is none, or the program is a candidate of the search.
std::unique_ptr<Task<ReproRun>> ScriptVerifier::started_test(const ReproScripts::Script &script) const {
  const bool is_handed_over = fs::exists(fs::path(folder_) / "reduced.pt");
  return script.test.empty() || !is_handed_over ? nullptr : started(script, "test_repro.py", script.test);
}

/// test_repro.py is kept where it was seen to fail.
std::optional<bool> ScriptVerifier::verified_test(const ReproScripts::Script &script, Task<ReproRun> *test,
                                                  const std::function<bool()> &interrupted) const {
  const std::string file = folder_ + "/test_repro.py";
  fs::remove(file); // of an earlier run into the same folder
  if (!test)
    return std::nullopt;
  if (!is_failing_test(test->wait(interrupted), facts_->signature))
    return false;
  write_atomically(file, script.test);
  return true;
}

/// Keeps it in the folder.
ScriptVerification ScriptVerifier::first_that_fails(const std::function<bool()> &interrupted) {
  ScriptVerification result{false, ""};
  int tried = 0;
  for (const auto &script : scripts_.scripts) {
    if (!is_started_ && interrupted && interrupted()) // the first may have ended by then
      break;
    const bool is_light = facts_->check.device.is_cpu() && !script.reads_files; // both may be in memory at a time
    auto test = is_light ? started_test(script) : nullptr;
    const Verification verification = verify(script, interrupted);
    if (verification.same_failure) {
      write_atomically(folder_ + "/repro.py", script.text);
      result = {
          true, "run, and fails the same way", lines_of_code(script.text), 0, script.statement, verification.shown};
      if (!is_light)
        test = started_test(script);
      result.test_verified = verified_test(script, test.get(), interrupted);
      return result;
    }
    result.message += (result.message.empty() ? "" : "; or else ") + verification.message;
    // No form of the script can choose what uninitialised memory holds: further tries would be left to chance.
    if (facts_->reads_unwritten.value_or(false) && ++tried == most_tried_of_chance)
      break;
  }
  return result;
}

ScriptVerification ScriptVerifier::finish(const std::function<bool()> &interrupted) {
  if (problem_)
    std::rethrow_exception(problem_);
  const std::string file = folder_ + "/repro.py";
  if (scripts_.scripts.empty()) {
    fs::remove(file); // of an earlier run into the same folder
    return {std::nullopt, scripts_.none_because};
  }
  if (python_.empty()) {
    const ReproScripts::Script &first = scripts_.scripts.front();
    write_atomically(file, first.text);
    return {std::nullopt, "there is no Python with torch to run it", lines_of_code(first.text), 0, first.statement};
  }
  ScriptVerification result = first_that_fails(interrupted);
  if (!*result.verified && interrupted && interrupted())
    result = {std::nullopt, "it was cut short"};
  const bool is_all_there_is = facts_->backend->parts().repro_in_python;
  if (!result.verified.value_or(false) && !is_all_there_is)
    fs::remove(file);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  return result;
}

} // namespace repro_minify
