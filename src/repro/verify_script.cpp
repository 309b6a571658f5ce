// repro.py is run in an interpreter of its own before it is handed over.
#include "backends/in_python.h"
#include "core/files.h"
#include "program/compute.h"
#include "repro/atomic_file.h"
#include "repro/judge_run.h"
#include "repro/repro_script.h"
#include "repro/script_run.h"
#include "repro/verify_repeatedly.h"
#include "repro_minify/backend_parts.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

/// The forms of one script, tried in their order.
struct ScriptVerifier::Impl {
  Impl(std::string folder, std::string python) : folder(std::move(folder)), python(std::move(python)) {}

  void begin(const Program &of, const ReproFacts &known) {
    program = &of;
    facts = &known;
    begun = std::chrono::steady_clock::now();
    try {
      scripts = scripts_of(*program, *facts);
      if (scripts.scripts.empty() || python.empty())
        return;
      start(scripts.scripts.front());
      is_started = true;
    } catch (...) {
      problem = std::current_exception();
    }
  }

  /// Starts a Python on one repro.py, in a folder of its own, beside the libraries that it loads.
  void start(const ReproScript &given) { process = started(given, "repro.py", given.text); }

  std::unique_ptr<Task<ReproRun>> started(const ReproScript &given, const char *name, const std::string &text) const {
    const ScriptToRun script{.python = python, .files = {{name, text}}, .reads_files = given.reads_files};
    return start_script(script, *facts, folder).task;
  }

  Verification verify(const ReproScript &script, const std::function<bool()> &interrupted) {
    const auto run = [&] {
      if (!std::exchange(is_started, false))
        start(script);
      return process->wait(interrupted);
    };
    return verify_repeatedly(
        run, [&](const ReproRun &ended) { return judge_script(ended, script.text, facts->signature); },
        facts->repetition, interrupted);
  }

  /// test_repro.py is kept where it was seen to fail.
  std::optional<bool> verified_test(const ReproScript &script, const std::function<bool()> &interrupted) {
    const std::string file = folder + "/test_repro.py";
    fs::remove(file);                                                        // of an earlier run into the same folder
    const bool is_handed_over = fs::exists(fs::path(folder) / "reduced.pt"); // not a candidate of the search
    if (script.test.empty() || !is_handed_over)
      return std::nullopt;
    const ReproRun run = started(script, "test_repro.py", script.test)->wait(interrupted);
    if (!is_failing_test(run, facts->signature))
      return false;
    write_atomically(file, script.test);
    return true;
  }

  /// Keeps it in the folder.
  ScriptVerification first_that_fails(const std::function<bool()> &interrupted) {
    ScriptVerification result{false, ""};
    int tried = 0;
    for (const auto &script : scripts.scripts) {
      if (interrupted && interrupted())
        break;
      const Verification verification = verify(script, interrupted);
      if (verification.same_failure) {
        write_atomically(folder + "/repro.py", script.text);
        result = {
            true, "run, and fails the same way", lines_of_code(script.text), 0, script.statement, verification.shown};
        result.test_verified = verified_test(script, interrupted);
        return result;
      }
      result.message += (result.message.empty() ? "" : "; or else ") + verification.message;
      // No form of the script can choose what uninitialised memory holds: further tries would be left to chance.
      if (facts->reads_unwritten.value_or(false) && ++tried == most_tried_of_chance)
        break;
    }
    return result;
  }

  ScriptVerification finish(const std::function<bool()> &interrupted) {
    if (problem)
      std::rethrow_exception(problem);
    const std::string file = folder + "/repro.py";
    if (scripts.scripts.empty()) {
      fs::remove(file); // of an earlier run into the same folder
      return {std::nullopt, scripts.none_because};
    }
    if (python.empty()) {
      const ReproScript &first = scripts.scripts.front();
      write_atomically(file, first.text);
      return {std::nullopt, "there is no Python with torch to run it", lines_of_code(first.text), 0, first.statement};
    }
    ScriptVerification result = first_that_fails(interrupted);
    if (!*result.verified && interrupted && interrupted())
      result = {std::nullopt, "interrupted"};
    const bool is_all_there_is = facts->backend->parts().repro_in_python;
    if (!result.verified.value_or(false) && !is_all_there_is)
      fs::remove(file);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
  }

  const std::string folder, python;
  const Program *program = nullptr;
  const ReproFacts *facts = nullptr;
  std::chrono::steady_clock::time_point begun;
  ReproScripts scripts;
  std::unique_ptr<Task<ReproRun>> process;
  bool is_started = false; ///< the first form was started, and not yet waited for
  std::exception_ptr problem;
};

ScriptVerifier::ScriptVerifier(std::string folder, std::string python)
    : impl_(std::make_unique<Impl>(std::move(folder), std::move(python))) {}

ScriptVerifier::~ScriptVerifier() = default;

void ScriptVerifier::begin(const Program &program, const ReproFacts &facts) {
  impl_->begin(program, facts);
}

ScriptVerification ScriptVerifier::finish(const std::function<bool()> &interrupted) {
  return impl_->finish(interrupted);
}

} // namespace repro_minify
