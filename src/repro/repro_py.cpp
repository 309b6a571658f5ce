#include "repro/repro_py.h"

#include "backends/in_python.h"
#include "check/initial_state.h"
#include "program/values.h"
#include "repro/atomic_file.h"
#include "repro/render.h"
#include "repro/repro_cmake.h"
#include "repro/repro_differs.h"
#include "repro/repro_words.h"
#include "repro/torchscript_source.h"
#include "repro/triage.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <filesystem>

namespace repro_minify {

nlohmann::json facts_for_python(const Program &program, const ReproFacts &facts) {
  const bool sets_determinism = facts.needs_determinism && facts.check.determinism != Determinism::Off;
  return {{"headline", headline(facts)},
          {"found", facts.reduced.message},
          {"minimised", "minimised from " + std::to_string(facts.before.operators) + " operators to " +
                            std::to_string(facts.after.operators) + " by repro-minify " + facts.version},
          {"operator_libraries", facts.libraries},
          {"kind", to_string(facts.signature.kind)},
          {"marker", reproduction_marker(program, facts.signature)},
          {"where", facts.signature.where},
          {"differs", differs_json(facts)},
          {"perturb", facts.reads_unwritten.value_or(false) ? nlohmann::json(usual_perturbation) : nlohmann::json()},
          {"calls", std::max(1, facts.reduced.failing_call)},
          {"seed", facts.check.seed},
          {"threads", facts.check.threads},
          {"grad", facts.check.grad},
          {"autocast", facts.check.autocast},
          {"autocast_dtype", dtype_name(facts.check.autocast_dtype)},
          {"device", facts.check.device.str()},
          {"deterministic", sets_determinism ? to_string(facts.check.determinism) : "off"},
          {"only_exported", is_fault_of_export(facts)}};
}

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

void write_repro_py(const Program &given, const ReproFacts &facts, const std::string &folder) {
  const ReproInPython *python = facts.backend->parts().repro_in_python;
  if (!python)
    return;
  const Program program = constants_as_buffers(given);
  const PythonRepro repro = python->python_repro(program, facts_for_python(given, facts));
  write_atomically(folder + "/repro.py", repro.text);
  if (repro.reads_files)
    write_atomically(folder + "/attributes.pt", saved_attributes(program));
  if (facts.backend->parts().tracker && is_comparison(facts.signature.kind))
    write_artefacts(program, *facts.backend->parts().tracker, folder);
}

std::string why_no_package(const ReproFacts &facts) {
  if (!facts.verify)
    return "what runs from C++ is made where it is verified (--no-verify was given)";
  if (facts.check.grad)
    return "the failure is in gradients";
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
  const AheadOfTime made = python.ahead_of_time(constants_as_buffers(given), facts_for_python(given, facts));
  if (made.none_because.empty())
    write_atomically(folder + "/model.pt2", made.package);
  return made.none_because;
}

void write_runner(const ReproFacts &facts, const std::string &folder) {
  write_atomically(folder + "/repro.cpp",
                   render("repro_runner.cpp.tpl", {{"headline", headline(facts)},
                                                   {"found", "Found:    " + facts.reduced.message},
                                                   {"why", facts.no_package_because}}));
  write_atomically(folder + "/CMakeLists.txt", runner_cmake_lists());
}

} // namespace repro_minify
