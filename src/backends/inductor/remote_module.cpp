#include "backends/inductor/remote_module.h"

#include "backends/backend_parts.h"
#include "core/no_answer.h"
#include "program/compute.h"
#include "program/values.h"
#include "tasks/limits.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstring>
#include <new>
#include <set>
#include <sstream>

#include <sys/resource.h>

namespace repro_minify {
namespace {

/// The seed that the check has given to this process's generators.
uint64_t seed_here() {
  return at::detail::getDefaultCPUGenerator().current_seed();
}

std::vector<at::Tensor> tensors_in(const std::vector<c10::IValue> &values) {
  std::vector<at::Tensor> tensors;
  for (const auto &value : values)
    for_each_tensor(value, [&](const at::Tensor &tensor) { tensors.push_back(tensor); });
  return tensors;
}

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

/// The version counters of what was written to there are those of other tensors here.
void note_writes(const json &written, const WireWriter &sent, const std::vector<c10::IValue> &operands) {
  std::set<void *> storages;
  for (const auto &pair : written)
    storages.insert(sent.storages().at(pair.at(0).get<size_t>()).unsafeGetStorageImpl());
  for (const auto &operand : operands)
    for_each_tensor(operand, [&](const at::Tensor &tensor) {
      if (storages.count(storage_of(tensor)))
        tensor.unsafeGetTensorImpl()->bump_version();
    });
}

} // namespace

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

json means_here() {
  return {{"memory", memory_allowance()}, {"niceness", getpriority(PRIO_PROCESS, 0)}, {"seed", seed_here()}};
}

std::optional<c10::DeviceType> device_among(const std::vector<c10::IValue> &values) {
  const auto tensors = tensors_in(values);
  return tensors.empty() ? std::nullopt : std::optional(tensors.front().device().type());
}

void bring_back_writes(const json &answer, const std::vector<at::Tensor> &blobs, const WireWriter &sent,
                       const std::vector<c10::IValue> &operands) {
  const at::NoGradGuard no_grad;
  for (const auto &pair : answer.at("storages"))
    bytes_of(sent.storages().at(pair.at(0).get<size_t>())).copy_(blobs.at(pair.at(1).get<size_t>()));
  const auto tensors = tensors_in(operands);
  for (const auto &view : answer.at("views"))
    tensors.at(view.at(0).get<size_t>())
        .as_strided_(view.at(1).get<std::vector<int64_t>>(), view.at(2).get<std::vector<int64_t>>(),
                     view.at(3).get<int64_t>());
}

at::Tensor saved_bytes(const torch::jit::Module &module) {
  std::ostringstream out;
  module.save(out);
  const std::string bytes = std::move(out).str();
  at::Tensor blob = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  std::memcpy(blob.mutable_data_ptr(), bytes.data(), bytes.size());
  return blob;
}

RemoteModule::RemoteModule(const std::string &address, torch::jit::Module module, const json &bisection,
                           const std::vector<std::string> &entries, How how)
    : connection_(connection_of_this_process(address)), module_(std::move(module)) {
  json request = means_here();
  request.update({{"do", "compile"},
                  {"module", 0},
                  {"bisection", bisection},
                  {"entries", entries},
                  {"eager", how != How::Compiled},
                  {"float64", how == How::EagerInFloat64}});
  program_ = connection_->ask({request, {saved_bytes(module_)}}).header.at("program");
}

RemoteModule::~RemoteModule() {
  try {
    connection_->exchange({{{"do", "forget"}, {"program", program_}}, {}});
  } catch (const std::exception &) { // it is gone, and its data with it
  }
}

c10::DeviceType RemoteModule::device_of(const std::vector<c10::IValue> &arguments) const {
  if (const auto device = device_among(arguments))
    return *device;
  for (const at::Tensor &parameter : module_.parameters())
    return parameter.device().type();
  return c10::kCPU;
}

c10::IValue RemoteModule::run(const std::vector<c10::IValue> &arguments) {
  InductorMessage message;
  WireWriter writer(message.blobs);
  const json words = writer.write_all(arguments);
  settings_ = settings_here(device_of(arguments));
  message.header = {{"do", "run"}, {"program", program_}, {"arguments", words}, {"settings", settings_}};
  const InductorMessage answer = connection_->ask(message);
  WireReader reader(answer.blobs);
  c10::IValue output;
  try {
    output = reader.read(answer.header.at("output"));
    bring_back_writes(answer.header, answer.blobs, writer, arguments);
    bring_back_module(answer.header, reader);
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

/// Writes to the parameters and buffers here what the run has written to its own.
void RemoteModule::bring_back_module(const json &answer, WireReader &reader) {
  const at::NoGradGuard no_grad;
  for (const auto &pair : answer.at("module"))
    module_.attr(pair.at(0).get<std::string>()).toTensor().copy_(reader.read(pair.at(1)).toTensor());
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
  const json words = writer.write_all(gradients);
  message.header = {{"do", "backward"}, {"program", program_}, {"gradients", words}, {"settings", settings_}};
  const InductorMessage answer = connection_->ask(message);
  WireReader reader(answer.blobs);
  std::vector<at::Tensor> results;
  for (const auto &gradient : answer.header.at("gradients")) {
    const c10::IValue value = reader.read(gradient);
    results.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
  }
  return results;
}

/// All calls of a process go to one child of the worker, whose generators go on from call to call.
InductorConnection &RemoteExecutor::connection(const std::vector<c10::IValue> &operands) {
  if (!connection_) {
    connection_ = std::make_unique<InductorConnection>(address_);
    json request = means_here();
    request.update({{"do", "begin_calls"}, {"settings", settings_here(device_among(operands).value_or(c10::kCPU))}});
    connection_->ask({request, {}});
  }
  return *connection_;
}

c10::IValue RemoteExecutor::call(const std::string &call, const std::vector<c10::IValue> &operands) {
  InductorMessage message;
  WireWriter writer(message.blobs);
  message.header = {{"do", "call"}, {"call", call}, {"operands", writer.write_all(operands)}};
  const InductorMessage answer = connection(operands).ask(message);
  // A result may live in the memory of an operand: the blobs that were sent are the first.
  std::vector<at::Tensor> blobs;
  for (const auto &storage : writer.storages())
    blobs.push_back(bytes_of(storage));
  blobs.insert(blobs.end(), answer.blobs.begin(), answer.blobs.end());
  bring_back_writes(answer.header, blobs, writer, operands);
  note_writes(answer.header.at("storages"), writer, operands);
  c10::IValue result = WireReader(std::move(blobs)).read(answer.header.at("output"));
  if (answer.header.at("grad").get<bool>())
    for_each_tensor(result, [](const at::Tensor &tensor) {
      if (tensor.is_floating_point() || tensor.is_complex())
        tensor.requires_grad_();
    });
  return result;
}

/// The generators of the child that serves calls go on from check to check.
bool RemoteExecutor::is_as_before() {
  if (connection_)
    return false;
  const json answer = connection_of_this_process(address_)->exchange({{{"do", "put_back"}}, {}}).header;
  return answer.at("left").get<std::string>().empty();
}

Forward RemoteExecutor::eager(const torch::jit::Module &module, bool double_precision) {
  const auto how = double_precision ? RemoteModule::How::EagerInFloat64 : RemoteModule::How::Eager;
  auto remote = std::make_shared<RemoteModule>(address_, module, json(), std::vector<std::string>{}, how);
  return [remote](const std::vector<c10::IValue> &arguments) { return remote->run(arguments); };
}

} // namespace repro_minify
