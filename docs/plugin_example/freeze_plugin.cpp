// A whole backend as a plugin of repro-minify: torch::jit::freeze. Replace compile() and run() with your own.
#include <repro_minify/backend_plugin.h>

#include <ATen/DLConvertor.h>
#include <torch/script.h>

#include <torch/csrc/jit/runtime/graph_executor.h>

#include <sstream>
#include <string>
#include <vector>

struct repro_minify_compiled {
  torch::jit::Module module;
};

namespace {

std::string last_error;

/// No exception may cross the boundary: it becomes a return code and a message.
template <typename MinifyJob> int guarded(const MinifyJob &work) noexcept {
  try {
    work();
    return 0;
  } catch (const c10::Error &error) {
    last_error = error.what_without_backtrace();
  } catch (const std::exception &error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an exception that is no std::exception";
  }
  return 1;
}

repro_minify_compiled *compile(const std::string &archive) {
  std::istringstream stream(archive);
  torch::jit::Module module = torch::jit::load(stream);
  torch::jit::setGraphExecutorOptimize(true); // or freezing leaves the calls in
  module = torch::jit::freeze(module);
  torch::jit::setGraphExecutorOptimize(false); // the plain interpreter runs the result
  return new repro_minify_compiled{module};
}

/// The caller goes on owning the tensor: nothing is to be done when ours goes.
c10::IValue borrowed(DLManagedTensor *tensor) {
  return at::fromDLPack(tensor, [](void *) {});
}

void append_tensors(const c10::IValue &value, std::vector<at::Tensor> &tensors) {
  if (value.isTuple())
    for (const auto &element : value.toTupleRef().elements())
      append_tensors(element, tensors);
  else if (value.isTensor())
    tensors.push_back(value.toTensor());
  else if (!value.isNone())
    tensors.push_back(at::scalar_tensor(value.toScalar()));
}

void run(repro_minify_compiled &compiled, DLManagedTensor *const *inputs, size_t input_count, DLManagedTensor **outputs,
         size_t output_count) {
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < input_count; ++i)
    arguments.push_back(borrowed(inputs[i]));
  std::vector<at::Tensor> results;
  append_tensors(compiled.module.forward(arguments), results);
  if (results.size() != output_count)
    throw std::runtime_error("another number of results than forward's type says");
  for (size_t i = 0; i < output_count; ++i)
    outputs[i] = at::toDLPack(results[i].detach().resolve_conj().resolve_neg());
}

} // namespace

uint32_t repro_minify_backend_abi() {
  return REPRO_MINIFY_BACKEND_ABI;
}
const char *repro_minify_backend_name() {
  return "freeze-example";
}
const char *repro_minify_backend_version() {
  return "1.0";
}
const char *repro_minify_backend_last_error() {
  return last_error.c_str();
}

int repro_minify_backend_compile(const void *archive, size_t archive_bytes, DLManagedTensor *const *, size_t,
                                 repro_minify_compiled **compiled) {
  return guarded([&] { *compiled = compile(std::string(static_cast<const char *>(archive), archive_bytes)); });
}

int repro_minify_backend_run(repro_minify_compiled *compiled, DLManagedTensor *const *inputs, size_t input_count,
                             DLManagedTensor **outputs, size_t output_count) {
  return guarded([&] { run(*compiled, inputs, input_count, outputs, output_count); });
}

void repro_minify_backend_free(repro_minify_compiled *compiled) {
  delete compiled;
}
