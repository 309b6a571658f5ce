// repro.py is run in an interpreter of its own before it is handed over.
#include "backends/in_python.h"
#include "backends/torch_python.h"
#include "emit/atomic_file.h"
#include "emit/repro_script.h"
#include "emit/verify_repeatedly.h"
#include "program/compute.h"
#include "repro_minify/backend_parts.h"
#include "support/read_file.h"
#include "support/temporary_folder.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
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

/// Importing torch is not part of the hang, but takes its time too.
std::chrono::milliseconds patience_for(const ReproFacts &facts) {
  const std::chrono::seconds import_time(30);
  return facts.signature.kind == FailureKind::Hang ? import_time + std::chrono::seconds(facts.hang_seconds)
                                                   : std::chrono::minutes(5);
}

} // namespace

/// The forms of one script, tried in their order.
struct ScriptVerifier::Impl {
  Impl(const Program &program, const ReproFacts &facts, std::string folder, std::string python)
      : program(program), facts(facts), folder(std::move(folder)), python(std::move(python)) {
    try {
      scripts = scripts_of(program, facts);
      if (scripts.texts.empty() || this->python.empty())
        return;
      start(scripts.texts.front());
      is_started = true;
    } catch (...) {
      problem = std::current_exception();
    }
  }

  /// In a folder of its own, with the libraries of operators that the script loads from beside itself.
  void start(const std::string &text) {
    running.reset();
    alone.emplace();
    for (const auto &library : facts.libraries)
      fs::copy_file(fs::path(folder) / library, *alone / library);
    const std::string file = *alone / "repro.py";
    std::ofstream(file) << text;
    Confinement confinement = confinement_of(*facts.backend);
    for (const auto &part : folders_of_python(python))
      confinement.readable.push_back(part);
    confinement.writable.push_back(alone->path());
    running.emplace(std::vector<std::string>{python, "-B", file}, alone->path(), confinement, patience_for(facts));
  }

  Verification verify(const std::string &text, const std::function<bool()> &interrupted) {
    const auto run = [&] {
      if (!std::exchange(is_started, false))
        start(text);
      return running->wait(interrupted);
    };
    const std::string marker = reproduction_marker(program, facts.signature);
    return verify_repeatedly(
        run, [&](const ReproRun &ended) { return judge_script(ended, marker, facts.signature); }, facts.repetition,
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
      // What lies in memory that nobody wrote is not the script's to choose, however it is written.
      if (facts.reads_unwritten.value_or(false) && ++tried == most_tried_of_chance)
        break;
    }
    return result;
  }

  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  const Program &program;
  const ReproFacts &facts;
  const std::string folder, python;
  ReproScripts scripts;
  std::optional<TemporaryFolder> alone;
  std::optional<ReproProcess> running; ///< after the folder that it runs in
  bool is_started = false;             ///< the first form, and nobody has waited for it yet
  std::exception_ptr problem;
};

ScriptVerifier::ScriptVerifier(const Program &program, const ReproFacts &facts, std::string folder, std::string python)
    : impl_(std::make_unique<Impl>(program, facts, std::move(folder), std::move(python))) {}

ScriptVerifier::~ScriptVerifier() = default;

ScriptVerification ScriptVerifier::finish(const std::function<bool()> &interrupted) {
  if (impl_->problem)
    std::rethrow_exception(impl_->problem);
  const std::string file = impl_->folder + "/repro.py";
  const ReproInPython *own = impl_->facts.backend->parts().repro_in_python;
  const ReproScripts &scripts = impl_->scripts;
  if (scripts.texts.empty() && own)
    return {};
  if (scripts.texts.empty()) {
    fs::remove(file); // of an earlier run into the same folder
    return {std::nullopt, scripts.none_because};
  }
  if (impl_->python.empty()) {
    write_atomically(file, scripts.texts.front());
    return {std::nullopt, "there is no Python with torch to run it", lines_of_code(scripts.texts.front())};
  }
  ScriptVerification result = impl_->first_that_fails(interrupted);
  if (!*result.verified && interrupted && interrupted())
    result = {std::nullopt, "interrupted"};
  if (!result.verified.value_or(false) && own)
    return {};
  if (!result.verified.value_or(false))
    fs::remove(file);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - impl_->begin).count();
  return result;
}

} // namespace repro_minify
