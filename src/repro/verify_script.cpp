// repro.py is run in an interpreter of its own before it is handed over.
#include "backends/in_python.h"
#include "core/files.h"
#include "program/compute.h"
#include "repro/atomic_file.h"
#include "repro/judge_run.h"
#include "repro/repro_script.h"
#include "repro/verify_repeatedly.h"
#include "repro_minify/backend_parts.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// Written in a child: tensors are looked at.
ReproScripts scripts_of(const Program &program, const ReproFacts &facts) {
  Limits limits;
  limits.timeout = std::chrono::minutes(1);
  const auto written = compute_in_child(
      [&](Child &) -> c10::IValue {
        const ReproScripts scripts = repro_scripts(program, facts);
        c10::List<std::string> texts;
        texts.push_back(scripts.none_because);
        for (const auto &text : scripts.texts)
          texts.push_back(text);
        return texts;
      },
      limits);
  ReproScripts scripts;
  for (const auto &text : written.toListRef())
    scripts.texts.push_back(text.toStringRef());
  scripts.none_because = scripts.texts.front();
  scripts.texts.erase(scripts.texts.begin());
  return scripts;
}

constexpr int most_tried_of_chance = 2;
constexpr std::chrono::minutes patience_of_others(5);

/// Importing torch is not part of the hang, but takes its time too.
std::chrono::milliseconds patience_for(const ReproFacts &facts) {
  const std::chrono::seconds import_time(30);
  return facts.signature.kind == FailureKind::Hang ? import_time + std::chrono::seconds(facts.hang_seconds)
                                                   : patience_of_others;
}

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
      if (scripts.texts.empty() || python.empty())
        return;
      start(scripts.texts.front());
      is_started = true;
    } catch (...) {
      problem = std::current_exception();
    }
  }

  /// Starts a Python on one repro.py, in a folder of its own, beside the libraries that it loads.
  void start(const std::string &text) {
    const auto alone = std::make_shared<TemporaryFolder>();
    for (const auto *files : {&facts->libraries, &facts->modules})
      for (const auto &file : *files)
        fs::copy_file(fs::path(folder) / file, *alone / file);
    const std::string script = *alone / "repro.py";
    std::ofstream(script) << text;
    Confinement confinement = confinement_of(*facts->backend);
    for (const auto &part : folders_of_python(python))
      confinement.readable.push_back(part);
    confinement.writable.push_back(alone->path());
    std::vector<std::string> words = with_home(alone->path());
    words.insert(words.end(), {python, "-B", script});
    process = start_repro(words, alone->path(), confinement, patience_for(*facts), alone);
  }

  Verification verify(const std::string &text, const std::function<bool()> &interrupted) {
    const auto run = [&] {
      if (!std::exchange(is_started, false))
        start(text);
      return process->wait(interrupted);
    };
    const std::string marker = reproduction_marker(*program, facts->signature);
    return verify_repeatedly(
        run, [&](const ReproRun &ended) { return judge_script(ended, marker, facts->signature); }, facts->repetition,
        interrupted);
  }

  /// Keeps it in the folder.
  ScriptVerification first_that_fails(const std::function<bool()> &interrupted) {
    ScriptVerification result{false, ""};
    int tried = 0;
    for (const auto &text : scripts.texts) {
      if (interrupted && interrupted())
        break;
      const Verification verification = verify(text, interrupted);
      if (verification.same_failure) {
        write_atomically(folder + "/repro.py", text);
        return {true, "run, and fails the same way", lines_of_code(text)};
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
    const ReproInPython *own = facts->backend->parts().repro_in_python;
    if (scripts.texts.empty() && own)
      return {};
    if (scripts.texts.empty()) {
      fs::remove(file); // of an earlier run into the same folder
      return {std::nullopt, scripts.none_because};
    }
    if (python.empty()) {
      write_atomically(file, scripts.texts.front());
      return {std::nullopt, "there is no Python with torch to run it", lines_of_code(scripts.texts.front())};
    }
    ScriptVerification result = first_that_fails(interrupted);
    if (!*result.verified && interrupted && interrupted())
      result = {std::nullopt, "interrupted"};
    if (!result.verified.value_or(false) && own)
      return {};
    if (!result.verified.value_or(false))
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
