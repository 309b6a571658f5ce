#include "emit/repro_py.h"

#include "backends/in_python.h"
#include "check/unwritten_memory.h"
#include "emit/atomic_file.h"
#include "emit/render.h"
#include "emit/repro_cmake.h"
#include "emit/repro_differs.h"
#include "emit/repro_words.h"
#include "emit/torchscript_source.h"
#include "program/values.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <filesystem>

namespace repro_minify {
namespace {

nlohmann::json facts_for_python(const ReproFacts &facts, const std::string &marker) {
  const bool sets_determinism = facts.needs_determinism && facts.check.determinism != Determinism::Off;
  return {{"headline", headline(facts)},
          {"found", facts.reduced.message},
          {"minimised", "minimised from " + std::to_string(facts.before.operators) + " operators to " +
                            std::to_string(facts.after.operators) + " by repro-minify " + facts.version},
          {"operator_libraries", facts.libraries},
          {"kind", to_string(facts.signature.kind)},
          {"marker", marker},
          {"where", facts.signature.where},
          {"differs", differs_json(facts)},
          {"perturb", facts.reads_unwritten.value_or(false) ? nlohmann::json(usual_perturbation) : nlohmann::json()},
          {"calls", std::max(1, facts.reduced.failing_call)},
          {"seed", facts.check.seed},
          {"threads", facts.check.threads},
          {"verify", facts.verify},
          {"grad", facts.check.grad},
          {"autocast", facts.check.autocast},
          {"autocast_dtype", dtype_name(facts.check.autocast_dtype)},
          {"device", facts.check.device.str()},
          {"deterministic", sets_determinism ? to_string(facts.check.determinism) : "off"}};
}

/// In the order that repro.py has them in.
std::string saved_attributes(const Program &program) {
  std::vector<c10::IValue> tensors;
  for (const auto &input : program.inputs)
    if (input.role != Role::Input)
      tensors.push_back(input.value.toTensor().detach());
  const auto bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create(tensors));
  return {bytes.data(), bytes.size()};
}

} // namespace

bool write_repro_py(const Program &given, const ReproFacts &facts, const std::string &folder) {
  const ReproInPython *python = facts.backend->parts().repro_in_python;
  if (!python)
    return true;
  const Program program = constants_as_buffers(given);
  const PythonRepro repro =
      python->python_repro(program, facts_for_python(facts, reproduction_marker(given, facts.signature)));
  write_atomically(folder + "/repro.py", repro.text);
  if (repro.reads_files)
    write_atomically(folder + "/attributes.pt", saved_attributes(program));
  if (repro.no_package_because.empty()) {
    write_atomically(folder + "/model.pt2", repro.package);
    return true;
  }
  std::filesystem::remove(folder + "/model.pt2"); // of an earlier run into the same folder
  write_atomically(folder + "/repro.cpp",
                   render("repro_runner.cpp.tpl", {{"headline", headline(facts)},
                                                   {"found", "Found:    " + facts.reduced.message},
                                                   {"why", repro.no_package_because}}));
  write_atomically(folder + "/CMakeLists.txt", runner_cmake_lists());
  return false;
}

} // namespace repro_minify
