// The real TorchInductor: the program goes to a Python process that compiles and runs it (backends/inductor/), and what
// comes of it is brought back.
#include "backends/cannot_compile.h"
#include "backends/in_python.h"
#include "backends/inductor/inductor_bisector.h"
#include "backends/inductor/inductor_worker.h"
#include "backends/registry.h"
#include "backends/torch_python.h"
#include "program/compute.h"
#include "program/values.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/program.h"
#include "sandbox/limits.h"
#include "support/no_answer.h"
#include "support/out_of_memory.h"
#include "toolchain/compiler.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/version.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <sstream>

#include <sys/resource.h>

namespace repro_minify {
namespace {

using nlohmann::json;

/// The seed that the check has given to this process's generators.
uint64_t seed_here() {
  return at::detail::getDefaultCPUGenerator().current_seed();
}

/// The modes that the check has set for this process.
json settings_here(c10::DeviceType device) {
  const auto &context = at::globalContext();
  return {{"seed", seed_here()},
          {"threads", at::get_num_threads()},
          {"grad", at::GradMode::is_enabled()},
          {"deterministic", context.deterministicAlgorithms()},
          {"warn_only", context.deterministicAlgorithmsWarnOnly()},
          {"tf32", context.allowTF32CuBLAS()},
          {"device", c10::DeviceTypeName(device, /*lower_case=*/true)},
          {"autocast", at::autocast::is_autocast_enabled(device)},
          {"autocast_dtype", dtype_name(at::autocast::get_autocast_dtype(device))}};
}

std::vector<at::Tensor> tensors_in(const std::vector<c10::IValue> &values) {
  std::vector<at::Tensor> tensors;
  for (const auto &value : values)
    for_each_tensor(value, [&](const at::Tensor &tensor) { tensors.push_back(tensor); });
  return tensors;
}

/// Returns the module's archive, which the worker loads. It gets no path: neither process may read the other's files.
at::Tensor saved_bytes(const torch::jit::Module &module) {
  std::ostringstream out;
  module.save(out);
  const std::string bytes = std::move(out).str();
  at::Tensor blob = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  std::memcpy(blob.mutable_data_ptr(), bytes.data(), bytes.size());
  return blob;
}

/// A module in the worker's child, and the one here that it was made from.
class RemoteModule : public std::enable_shared_from_this<RemoteModule> {
public:
  /// `bisection`: what PyTorch's bisector leaves out; null: nothing. `entries`: beside those of the worker.
  RemoteModule(const std::string &address, torch::jit::Module module, const json &bisection,
               const std::vector<std::string> &entries)
      : connection_(address), module_(std::move(module)) {
    connection_.ask({{{"do", "compile"},
                      {"module", 0},
                      {"memory", memory_allowance()},
                      {"niceness", getpriority(PRIO_PROCESS, 0)},
                      {"seed", seed_here()},
                      {"bisection", bisection},
                      {"entries", entries}},
                     {saved_bytes(module_)}});
  }

  c10::IValue run(const std::vector<c10::IValue> &arguments);
  std::vector<at::Tensor> backward(const std::vector<at::Tensor> &gradients);

private:
  c10::DeviceType device_of(const std::vector<c10::IValue> &arguments) const;
  void bring_back_state(const json &answer, const std::vector<at::Tensor> &blobs, WireReader &reader,
                        const WireWriter &sent, const std::vector<c10::IValue> &arguments);
  void connect_gradients(const c10::IValue &output, const json &words, const std::vector<c10::IValue> &arguments);

  InductorConnection connection_;
  torch::jit::Module module_;
  json settings_;
};

/// The outputs of a run as a function of its leaves: asks the other side for the gradients of the leaves.
struct RemoteFunction : public torch::autograd::Function<RemoteFunction> {
  struct Run {
    std::shared_ptr<RemoteModule> module;
    torch::autograd::variable_list outputs;
  };
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext *context, const Run &run,
                                                at::TensorList) {
    context->saved_data["module"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(run.module));
    return run.outputs;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext *context,
                                                 const torch::autograd::variable_list &gradients) {
    const auto holder = context->saved_data["module"].toCapsule();
    torch::autograd::variable_list results = {at::Tensor()}; // of the Run
    for (const auto &gradient : static_cast<Holder &>(*holder).module->backward(gradients))
      results.push_back(gradient);
    return results;
  }

private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<RemoteModule> held) : module(std::move(held)) {}
    std::shared_ptr<RemoteModule> module;
  };
};

c10::DeviceType RemoteModule::device_of(const std::vector<c10::IValue> &arguments) const {
  for (const auto &tensor : tensors_in(arguments))
    return tensor.device().type();
  for (const at::Tensor &parameter : module_.parameters())
    return parameter.device().type();
  return c10::kCPU;
}

c10::IValue RemoteModule::run(const std::vector<c10::IValue> &arguments) {
  InductorMessage message;
  WireWriter writer(message.blobs);
  json words = json::array();
  for (const auto &argument : arguments)
    words.push_back(writer.write(argument));
  settings_ = settings_here(device_of(arguments));
  message.header = {{"do", "run"}, {"arguments", words}, {"settings", settings_}};
  const InductorMessage answer = connection_.ask(message);
  WireReader reader(answer.blobs);
  c10::IValue output;
  try {
    output = reader.read(answer.header.at("output"));
    bring_back_state(answer.header, answer.blobs, reader, writer, arguments);
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const NoAnswer &) {
    throw;
  } catch (const std::exception &error) { // TorchInductor has run: it is not what fails
    if (is_out_of_memory(error.what()))
      throw;
    throw CannotCompile("what it returned cannot be read: " + first_sentence(error.what()));
  }
  if (at::GradMode::is_enabled())
    connect_gradients(output, answer.header.at("output"), arguments);
  return output;
}

/// Writes to the arguments, parameters and buffers here what the run has written to its own.
void RemoteModule::bring_back_state(const json &answer, const std::vector<at::Tensor> &blobs, WireReader &reader,
                                    const WireWriter &sent, const std::vector<c10::IValue> &arguments) {
  const at::NoGradGuard no_grad;
  for (const auto &pair : answer.at("storages"))
    bytes_of(sent.storages().at(pair.at(0).get<size_t>())).copy_(blobs.at(pair.at(1).get<size_t>()));
  const auto tensors = tensors_in(arguments);
  for (const auto &view : answer.at("views"))
    tensors.at(view.at(0).get<size_t>())
        .as_strided_(view.at(1).get<std::vector<int64_t>>(), view.at(2).get<std::vector<int64_t>>(),
                     view.at(3).get<int64_t>());
  for (const auto &pair : answer.at("module"))
    module_.attr(pair.at(0).get<std::string>()).toTensor().copy_(reader.read(pair.at(1)).toTensor());
}

/// The tensors among the words of a value, depth first.
void list_tensors(const json &words, std::vector<const json *> &found) {
  const std::string kind = words.begin().key();
  const json &content = words.begin().value();
  if (kind == "tensor")
    found.push_back(&content);
  else if (kind == "list" || kind == "tuple")
    for (const auto &part : content)
      list_tensors(part, found);
  else if (kind == "dict")
    for (const auto &pair : content)
      list_tensors(pair.at(1), found);
}

void RemoteModule::connect_gradients(const c10::IValue &output, const json &words,
                                     const std::vector<c10::IValue> &arguments) {
  torch::autograd::variable_list leaves;
  for (const at::Tensor &parameter : module_.parameters())
    if (parameter.requires_grad())
      leaves.push_back(parameter);
  for (const auto &tensor : tensors_in(arguments))
    if (tensor.requires_grad())
      leaves.push_back(tensor);
  std::vector<const json *> described;
  list_tensors(words, described);
  const auto outputs = tensors_in({output});
  torch::autograd::variable_list differentiable;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (described.at(i)->at("grad").get<bool>())
      differentiable.push_back(outputs[i]);
  if (differentiable.empty())
    return;
  RemoteFunction::apply(RemoteFunction::Run{shared_from_this(), differentiable}, at::TensorList(leaves));
}

std::vector<at::Tensor> RemoteModule::backward(const std::vector<at::Tensor> &gradients) {
  InductorMessage message;
  WireWriter writer(message.blobs);
  json words = json::array();
  for (const auto &gradient : gradients)
    words.push_back(writer.write(gradient));
  message.header = {{"do", "backward"}, {"gradients", words}, {"settings", settings_}};
  const InductorMessage answer = connection_.ask(message);
  WireReader reader(answer.blobs);
  std::vector<at::Tensor> results;
  for (const auto &gradient : answer.header.at("gradients")) {
    const c10::IValue value = reader.read(gradient);
    results.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
  }
  return results;
}

std::optional<PythonCall> call_of(const json &words) {
  if (words.is_null())
    return std::nullopt;
  PythonCall call;
  words.at("settings").get_to(call.settings);
  words.at("random_settings").get_to(call.random_settings);
  words.at("optimised").get_to(call.optimised);
  call.eager_is_python = true;
  return call;
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
  std::string title() const override { return "TorchInductor (torch.compile)"; }
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
  std::string imported_module() const override { return "torch._inductor.compile_fx"; }
  const std::string &torch_version() const override { return torch_version_; }

  PythonRepro python_repro(const Program &program, const json &facts) const override {
    const json answer = ask_about("repro", program, facts).header;
    return {answer.at("text").get<std::string>(), answer.at("reads_files").get<bool>()};
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
    return {.runs_the_module = true,
            .needs_flat_graph = true,
            .loads_what_was_saved = true,
            .needs_several_calls = false,
            .compiles_for_seconds = true};
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
