#include "backends/inductor/remote_module.h"

#include "program/values.h"

#include <set>

namespace repro_minify {
namespace {

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
