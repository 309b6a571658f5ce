#include "repro/repro_py.h"

#include "backends/in_python.h"
#include "program/values.h"
#include "repro/render.h"
#include "repro/results_folder.h"
#include "repro/script_text.h"
#include "repro/torchscript_source.h"
#include "repro/triage.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <filesystem>

namespace repro_minify {

namespace {

/// In the order that repro.py has them in.
std::string saved_attributes(const Program &program) {
  std::vector<c10::IValue> tensors;
  for (const auto &input : program.inputs)
    if (input.role != Role::Input)
      tensors.push_back(input.value.toTensor().detach());
  const auto bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create(tensors));
  return {bytes.data(), bytes.size()};
}

/// One that cannot be made is not needed: the script makes it anew.
void write_artefacts(const Program &program, const OwnTracker &own, const std::string &folder) {
  try {
    for (const auto &[name, bytes] : own.artefacts(program))
      write_atomically(folder + "/" + std::filesystem::path(name).filename().string(), bytes);
  } catch (const std::exception &) {
  }
}

} // namespace

json facts_for_python(const ReproFacts &facts) {
  const bool is_pass = facts.bisection && facts.bisection->kind == StepKind::Pass;
  return {{"kind", to_string(facts.signature.kind)},
          {"differs", differs_json(facts)},
          {"grad", facts.check.grad},
          {"of_gradients", facts.signature.where == "gradient"},
          {"guilty_pass", is_pass ? facts.bisection->name : ""},
          {"device", facts.check.device.str()}};
}

void write_repro_py(const Program &given, const ReproFacts &facts, const std::string &folder) {
  if (!facts.backend->parts().repro_in_python)
    return;
  const ReproScripts scripts = repro_scripts(given, facts);
  if (scripts.scripts.empty())
    return;
  const Program program = constants_as_buffers(given);
  write_atomically(folder + "/repro.py", scripts.scripts.front().text);
  const bool reads_files = std::any_of(scripts.scripts.begin(), scripts.scripts.end(),
                                       [](const ReproScripts::Script &script) { return script.reads_files; });
  if (reads_files)
    write_atomically(folder + "/attributes.pt", saved_attributes(program));
  if (facts.backend->parts().tracker && is_comparison(facts.signature.kind))
    write_artefacts(program, *facts.backend->parts().tracker, folder);
}

std::string why_no_package(const ReproFacts &facts) {
  if (!facts.verify)
    return "what runs from C++ is made where it is verified (--no-verify was given)";
  if (facts.check.grad)
    return facts.signature.where == "gradient" ? "the failure is in gradients" : "gradients are computed with it";
  if (facts.signature.where == "state")
    return "the failure is in what the run leaves behind";
  if (facts.check.autocast)
    return "it runs under autocast";
  const FailureKind kind = facts.signature.kind;
  const bool takes_values = is_comparison(kind) && kind != FailureKind::Structure;
  return takes_values ? "" : "the failure is of the kind " + std::string(to_string(kind));
}

std::string write_package(const Program &given, const ReproFacts &facts, const std::string &folder) {
  const ReproInPython &python = *facts.backend->parts().repro_in_python;
  const ReproInPython::AheadOfTime made = python.ahead_of_time(constants_as_buffers(given), facts_for_python(facts));
  if (made.none_because.empty())
    write_atomically(folder + "/model.pt2", made.package);
  return made.none_because;
}

void write_runner(const Program &program, const ReproFacts &facts, const std::string &folder) {
  write_atomically(folder + "/repro.cpp",
                   render("repro_runner.cpp.tpl", {{"headline", headline(program, facts)},
                                                   {"found", "Found:    " + facts.reduced.message},
                                                   {"why", facts.no_package_because}}));
  write_atomically(folder + "/CMakeLists.txt", render("CMakeLists.txt.tpl", {{"runs_python", true}}));
}

} // namespace repro_minify
