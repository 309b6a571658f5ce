#include "emit/repro_py.h"

#include "backends/python_backend.h"
#include "check/unwritten_memory.h"
#include "emit/atomic_file.h"
#include "emit/repro_differs.h"
#include "emit/repro_words.h"
#include "emit/torchscript_source.h"
#include "program/values.h"
#include "support/escape.h"

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
          {"kind", to_string(facts.signature.kind)},
          {"marker", marker},
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

std::string runner(const ReproFacts &facts, const std::string &why) {
  return "// " + comment_text(headline(facts)) + "\n//\n" + comment_block("Found:    " + facts.reduced.message) +
         "// It shows from Python only: " + comment_text(why) + ".\n" +
         R"(// This program runs repro.py, with the interpreter that REPRO_PYTHON names (default: python3).
// Exit code: 1 the failure reproduces (and the last line is "REPRODUCED ..."), 0 it no longer does, 2 it could not be
// tried.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

int main() {
  const char* named = std::getenv("REPRO_PYTHON");
  const char* python = named ? named : "python3";  // its own name tells it where its packages are
  const std::string script = (std::filesystem::path(__FILE__).parent_path() / "repro.py").string();
  std::printf("It shows from Python only; running repro.py\n");
  std::fflush(stdout);
  execlp(python, python, script.c_str(), static_cast<char*>(nullptr));
  std::perror("cannot be tried, no Python");
  return 2;
}
)";
}

constexpr const char *runner_cmake = R"(cmake_minimum_required(VERSION 3.18)
project(repro LANGUAGES CXX)
add_executable(repro repro.cpp)
set_target_properties(repro PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
)";

} // namespace

bool write_repro_py(const Program &given, const ReproFacts &facts, const std::string &folder) {
  const auto *python = dynamic_cast<const PythonBackend *>(facts.backend.get());
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
  write_atomically(folder + "/repro.cpp", runner(facts, repro.no_package_because));
  write_atomically(folder + "/CMakeLists.txt", runner_cmake);
  return false;
}

} // namespace repro_minify
