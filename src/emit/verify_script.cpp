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
#include <filesystem>
#include <fstream>

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

/// Importing torch is not part of the hang, but takes its time too.
std::chrono::milliseconds patience_for(const ReproFacts &facts) {
  const std::chrono::seconds import_time(30);
  return facts.signature.kind == FailureKind::Hang ? import_time + std::chrono::seconds(facts.hang_seconds)
                                                   : std::chrono::minutes(5);
}

/// `results`: where the libraries of operators lie, which the script loads from beside itself.
Verification verify_text(const std::string &text, const std::string &python, const std::string &marker,
                         const ReproFacts &facts, const std::string &results,
                         const std::function<bool()> &interrupted) {
  const TemporaryFolder folder;
  for (const auto &library : facts.libraries)
    fs::copy_file(fs::path(results) / library, folder / library);
  const std::string file = folder / "repro.py";
  std::ofstream(file) << text;
  Confinement confinement = confinement_of(*facts.backend);
  for (const auto &part : folders_of_python(python))
    confinement.readable.push_back(part);
  confinement.writable.push_back(folder.path());
  const auto run = [&] {
    return run_repro({python, "-B", file}, folder.path(), interrupted, confinement, patience_for(facts));
  };
  return verify_repeatedly(
      run, [&](const ReproRun &ended) { return judge_script(ended, marker, facts.signature); }, facts.repetition,
      interrupted);
}

/// Keeps it in the folder.
ScriptVerification first_that_fails(const std::vector<std::string> &texts, const std::string &python,
                                    const Program &program, const ReproFacts &facts, const std::string &folder,
                                    const std::function<bool()> &interrupted) {
  const std::string marker = reproduction_marker(program, facts.signature);
  ScriptVerification result{false, ""};
  for (const auto &text : texts) {
    if (interrupted && interrupted())
      break;
    const Verification verification = verify_text(text, python, marker, facts, folder, interrupted);
    if (verification.same_failure) {
      write_atomically(folder + "/repro.py", text);
      return {true, "run, and fails the same way", lines_of_code(text)};
    }
    result.message += (result.message.empty() ? "" : "; or else ") + verification.message;
  }
  return result;
}

} // namespace

ScriptVerification verify_script(const Program &program, const ReproFacts &facts, const std::string &folder,
                                 const std::string &python, const std::function<bool()> &interrupted) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string file = folder + "/repro.py";
  const ReproInPython *own = facts.backend->parts().repro_in_python;
  const ReproScripts scripts = scripts_of(program, facts);
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
  ScriptVerification result = first_that_fails(scripts.texts, python, program, facts, folder, interrupted);
  if (!*result.verified && own)
    return {};
  if (!*result.verified)
    fs::remove(file);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace repro_minify
