#include "backends/inductor/worker_backend.h"

#include "backends/inductor/remote_module.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "program/formula.h"
#include "program/operator_libraries.h"
#include "repro_minify/program.h"

#include <filesystem>
#include <utility>

namespace repro_minify {
namespace {

std::optional<PythonCall> call_of(const json &words) {
  if (words.is_null())
    return std::nullopt;
  PythonCall call;
  words.at("settings").get_to(call.settings);
  words.at("random_settings").get_to(call.random_settings);
  words.at("optimised").get_to(call.optimised);
  words.at("statements").get_to(call.statements);
  words.at("without_front_end").get_to(call.without_front_end);
  call.import_without_front_end = "from torch._inductor.compile_fx import compile_fx";
  call.eager_is_python = true;
  return call;
}

PythonProgram python_program_of(const json &parts) {
  PythonProgram program;
  parts.at("imports").get_to(program.imports);
  parts.at("definition").get_to(program.definition);
  parts.at("callable").get_to(program.callable);
  parts.at("statement").get_to(program.statement);
  parts.at("inputs").get_to(program.inputs);
  parts.at("writes").get_to(program.writes);
  parts.at("draws").get_to(program.draws);
  parts.at("is_module").get_to(program.is_module);
  parts.at("reads_files").get_to(program.reads_files);
  parts.at("reads_attributes").get_to(program.reads_attributes);
  return program;
}

/// The interpreter that the user has named for this backend, or else for all; empty: none.
std::string python_of(const BackendOptions &options, const std::string &backend) {
  for (const auto &pair : options.pythons)
    if (pair.starts_with(backend + "="))
      return pair.substr(backend.size() + 1);
  return options.python;
}

/// Returns a formula as the worker takes it, null for data.
json formula_data(const std::optional<Formula> &formula) {
  if (!formula)
    return nullptr;
  return {{"kind", function_name(formula->kind)}, {"number", number_text(formula->number)}, {"seed", formula->seed}};
}

} // namespace

std::vector<std::string> with_backend_options(std::vector<std::string> entries, const BackendOptions &options) {
  for (const auto &option : options.backend_options) {
    if (const size_t equals = option.find('='); equals == 0 || equals == std::string::npos)
      throw UserError("--backend-option " + option + ": is no KEY=VALUE");
    entries.push_back("backend-option=" + option);
  }
  return entries;
}

WorkerBackend::WorkerBackend(std::string name, const BackendOptions &options, std::vector<std::string> entries)
    : name_(std::move(name)), options_(options), entries_(std::move(entries)) {
  for (const auto &library : options_.libraries)
    entries_.push_back("load-library=" + std::filesystem::absolute(library).string());
  for (const auto &module : options_.imports)
    entries_.push_back("import-module=" + importable(module));
}

std::string WorkerBackend::unusable_because() const {
  const std::string given = python_of(options_, name_);
  python_ = find_python_with_torch(given);
  if (python_.empty())
    return given.empty() ? "no Python with torch was found; name one with --python"
                         : "--python " + given + ": not a Python with torch";
  return "";
}

void WorkerBackend::start() const {
  if (python_.empty())
    python_ = find_python_with_torch(python_of(options_, name_));
  worker_ = std::make_shared<InductorWorker>(name_, python_, entries_);
}

void WorkerBackend::await_start() const {
  worker_->await(options_.interrupted);
  python_version_ = worker_->python_version();
  torch_version_ = worker_->torch_version();
  recipe_ = worker_->recipe();
  python_call_ = call_of(worker_->call());
  set_python_executor(std::make_shared<RemoteExecutor>(worker_->address(), confinement()));
  const std::string here = libtorch_version(), there = worker_->torch_version();
  if (there.substr(0, there.find('+')) != here.substr(0, here.find('+')))
    options_.say(Severity::Warning, name_ + " is that of PyTorch " + there + ", eager that of LibTorch " + here);
}

void WorkerBackend::revive() const {
  if (!worker_ || worker_->lives())
    return;
  try {
    auto another = std::make_shared<InductorWorker>(name_, python_, entries_);
    another->await();
    worker_ = std::move(another);
    set_python_executor(std::make_shared<RemoteExecutor>(worker_->address(), confinement()));
  } catch (const UserError &error) {
    options_.say(Severity::Detail, error.what()); // a check that asks the old one is told that it is gone
  }
}

Identity WorkerBackend::identity() const {
  Identity identity;
  identity.add("the Python of " + name_, python_ + " (" + python_version_ + ")");
  identity.add("the PyTorch of " + name_, torch_version_);
  return identity;
}

Confinement WorkerBackend::confinement() const {
  return {.readable = what_worker_reads(python_, entries_), .unix_sockets = true};
}

Compiled WorkerBackend::compile(torch::jit::Module module) const {
  if (!worker_)
    throw NoAnswer("the Python worker of " + name_ + " has not been started");
  auto remote = std::make_shared<RemoteModule>(worker_->address(), std::move(module), bisection_, entries_of_checks_);
  return [remote](const std::vector<c10::IValue> &arguments) { return remote->run(arguments); };
}

std::vector<PythonProgram> WorkerBackend::python_programs(const Program &program, const json &facts) const {
  std::vector<PythonProgram> programs;
  const json answer = ask_about("repro", program, facts).header;
  for (const json &parts : answer.at("programs"))
    programs.push_back(python_program_of(parts));
  return programs;
}

json WorkerBackend::explanation(const Program &program, const json &facts) const {
  return ask_about("explain", program, facts).header;
}

BackendTraits WorkerBackend::traits() const {
  return {
      .runs_the_module = true, .needs_flat_graph = true, .loads_what_was_saved = true, .needs_several_calls = false};
}

BackendParts WorkerBackend::parts() const {
  return {.preparation = this,
          .surroundings = this,
          .repro_in_python = this,
          .python_call = python_call_ ? &*python_call_ : nullptr};
}

InductorMessage WorkerBackend::ask_about(const char *what, const Program &program, const json &facts) const {
  InductorMessage message;
  WireWriter writer(message.blobs);
  json inputs = json::array();
  std::vector<c10::IValue> values;
  for (const auto &input : program.inputs) {
    inputs.push_back({input.name, to_string(input.role), formula_data(input.formula), writer.write(input.value)});
    values.push_back(input.value);
  }
  message.header = {{"do", what}, {"module", message.blobs.size()}, {"inputs", inputs}, {"facts", facts}};
  message.header["settings"] = settings_here(device_among(values).value_or(c10::kCPU));
  message.header.update(means_here());
  message.blobs.push_back(saved_bytes(instantiate(program, {.requires_grad = true}).module));
  return InductorConnection(worker_->address()).ask(message);
}

} // namespace repro_minify
