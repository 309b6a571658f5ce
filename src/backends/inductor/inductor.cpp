// The real TorchInductor: the program goes to a Python process that compiles and runs it (backends/inductor/), and what
// comes of it is brought back.
#include "backends/backend_parts.h"
#include "backends/backend_registry.h"
#include "backends/in_python.h"
#include "backends/inductor/inductor_bisector.h"
#include "backends/inductor/inductor_worker.h"
#include "backends/inductor/remote_executor.h"
#include "backends/inductor/remote_module.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/program.h"
#include "tasks/compiler.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <cstdlib>
#include <filesystem>

namespace repro_minify {
namespace {

using nlohmann::json;

std::optional<PythonCall> call_of(const json &words) {
  if (words.is_null())
    return std::nullopt;
  PythonCall call;
  words.at("settings").get_to(call.settings);
  words.at("random_settings").get_to(call.random_settings);
  words.at("optimised").get_to(call.optimised);
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

class InductorBackend : public Backend,
                        public Preparation,
                        public Surroundings,
                        public ReproInPython,
                        public LibrarySettings,
                        public OwnBisector {
public:
  explicit InductorBackend(const BackendOptions &options) : options_(options) {}

  std::string name() const override { return "inductor"; }
  std::string summary() const override { return "the real TorchInductor, as torch.compile uses it, in Python"; }
  std::string title() const override { return "torch.compile"; }
  std::string needs() const override { return "Python with torch, a C++ compiler"; }

  std::string unusable_because() const override {
    python_ = find_python_with_torch(options_.python);
    if (python_.empty())
      return options_.python.empty() ? "no Python with torch was found; name one with --python"
                                     : "--python " + options_.python + ": not a Python with torch";
    return "";
  }

  void start() const override {
    if (python_.empty())
      python_ = find_python_with_torch(options_.python);
    worker_ = std::make_shared<InductorWorker>(python_, entries_for_worker());
  }

  void await_start() const override {
    worker_->await(options_.interrupted);
    python_version_ = worker_->python_version();
    torch_version_ = worker_->torch_version();
    python_call_ = call_of(worker_->call());
    set_python_executor(std::make_shared<RemoteExecutor>(worker_->address(), confinement()));
    const std::string here = TORCH_VERSION, there = worker_->torch_version();
    if (there.substr(0, there.find('+')) != here.substr(0, here.find('+')))
      options_.say(Severity::Warning, "inductor is that of PyTorch " + there + ", eager that of LibTorch " + here);
  }

  void revive() const override {
    if (!worker_ || worker_->lives())
      return;
    try {
      auto another = std::make_shared<InductorWorker>(python_, entries_for_worker());
      another->await();
      worker_ = std::move(another);
      set_python_executor(std::make_shared<RemoteExecutor>(worker_->address(), confinement()));
    } catch (const UserError &error) {
      options_.say(Severity::Detail, error.what()); // a check that asks the old one is told that it is gone
    }
  }

  Identity identity() const override {
    Identity identity;
    identity.add("the Python of inductor", python_ + " (" + python_version_ + ")");
    identity.add("the PyTorch of inductor", torch_version_);
    identity.add("the C++ compiler", compiler_version());
    return identity;
  }

  /// It asks the worker, which is confined itself; a repro runs in Python.
  Confinement confinement() const override {
    return {.readable = what_worker_reads(python_, entries_for_worker()), .unix_sockets = true};
  }

  Compiled compile(torch::jit::Module module) const override {
    if (!worker_)
      throw NoAnswer("the Python worker of inductor has not been started");
    auto remote = std::make_shared<RemoteModule>(worker_->address(), std::move(module), bisection_, entries_of_checks_);
    return [remote](const std::vector<c10::IValue> &arguments) { return remote->run(arguments); };
  }

  std::shared_ptr<const Backend> under(const std::vector<std::string> &entries) const override {
    auto backend = std::make_shared<InductorBackend>(*this);
    backend->entries_of_checks_ = entries;
    return backend;
  }

  std::vector<std::string> what_can_go() const override { return inductor_parts(worker_->address()); }

  std::optional<OwnFinding> bisect(const Fails &fails) const override {
    const auto variant = [this](const json &state) {
      auto backend = std::make_shared<InductorBackend>(*this);
      backend->bisection_ = state;
      return backend;
    };
    return bisect_inductor(worker_->address(), variant, fails);
  }

  const std::string &python() const override { return python_; }
  const std::string &torch_version() const override { return torch_version_; }

  std::vector<PythonProgram> python_programs(const Program &program, const json &facts) const override {
    std::vector<PythonProgram> programs;
    const json answer = ask_about("repro", program, facts).header;
    for (const json &parts : answer.at("programs"))
      programs.push_back(python_program_of(parts));
    return programs;
  }

  AheadOfTime ahead_of_time(const Program &program, const json &facts) const override {
    const InductorMessage answer = ask_about("package", program, facts);
    AheadOfTime result;
    result.none_because = answer.header.at("none_because").get<std::string>();
    for (const auto &blob : answer.blobs)
      result.package.assign(static_cast<const char *>(blob.const_data_ptr()), static_cast<size_t>(blob.numel()));
    return result;
  }

  /// From C++ it is used ahead of time.
  BackendSource source() const override {
    return {{"filesystem", "torch/csrc/inductor/aoti_package/model_package_loader.h"},
            R"(  (void)module;
  // model.pt2 is this program as AOTInductor has compiled it; repro.py has the same failure under torch.compile.
  const auto package = std::filesystem::path(__FILE__).parent_path() / "model.pt2";
  torch::inductor::AOTIModelPackageLoader compiled(package.string());
  auto call = [&compiled](const std::vector<c10::IValue>& inputs) -> c10::IValue {
    std::vector<at::Tensor> tensors;
    for (const auto& input : inputs)
      tensors.push_back(input.toTensor());
    return compiled.run(tensors);
  };
)"};
  }
  BackendTraits traits() const override {
    return {
        .runs_the_module = true, .needs_flat_graph = true, .loads_what_was_saved = true, .needs_several_calls = false};
  }
  BackendParts parts() const override {
    return {.preparation = this,
            .surroundings = this,
            .bisector = this,
            .repro_in_python = this,
            .library_settings = this,
            .python_call = python_call_ ? &*python_call_ : nullptr};
  }

private:
  InductorMessage ask_about(const char *what, const Program &program, const json &facts) const {
    InductorMessage message;
    WireWriter writer(message.blobs);
    json inputs = json::array();
    for (const auto &input : program.inputs)
      inputs.push_back({input.name, to_string(input.role), input.formula, writer.write(input.value)});
    message.header = {{"do", what}, {"module", message.blobs.size()}, {"inputs", inputs}, {"facts", facts}};
    message.blobs.push_back(saved_bytes(instantiate(program, {.requires_grad = true}).module));
    return InductorConnection(worker_->address()).ask(message);
  }

  /// The entries, and what has to be loaded before anything is compiled.
  std::vector<std::string> entries_for_worker() const {
    std::vector<std::string> entries;
    for (const auto &library : options_.libraries)
      entries.push_back("load-library=" + std::filesystem::absolute(library).string());
    for (const auto &module : options_.imports)
      entries.push_back("import-module=" + importable(module));
    if (options_.emulate_precision_casts)
      entries.emplace_back("emulate_precision_casts=true");
    entries.insert(entries.end(), options_.inductor_config.begin(), options_.inductor_config.end());
    return entries;
  }

  BackendOptions options_;
  mutable std::string python_, python_version_, torch_version_;
  mutable std::optional<PythonCall> python_call_; ///< once it has started
  mutable std::shared_ptr<InductorWorker> worker_;
  json bisection_;
  std::vector<std::string> entries_of_checks_; ///< beside those that the worker was started with
};

} // namespace

std::unique_ptr<Backend> make_inductor_backend(const BackendOptions &options) {
  return std::make_unique<InductorBackend>(options);
}

} // namespace repro_minify
