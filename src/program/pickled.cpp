#include "program/pickled.h"

#include "program/map_tensors.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/in_memory_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <memory>

namespace repro_minify {
namespace {

/// The pickler takes no undefined tensor: an empty one goes in its place, and a list says which ones they are.
c10::IValue without_undefined(const c10::IValue &value) {
  c10::List<int64_t> undefined;
  int64_t count = 0;
  const auto defined = map_tensors(value, [&](const at::Tensor &tensor) {
    if (!tensor.defined())
      undefined.push_back(count);
    ++count;
    return tensor.defined() ? tensor : at::empty({0});
  });
  // A value without any goes as it is: what it shares with itself stays shared.
  return c10::ivalue::Tuple::create({undefined.empty() ? value : defined, undefined});
}

c10::IValue with_undefined(const c10::IValue &pair) {
  const auto &parts = pair.toTupleRef().elements();
  const auto positions = parts[1].toIntVector();
  if (positions.empty())
    return parts[0];
  int64_t count = 0;
  return map_tensors(parts[0], [&](const at::Tensor &tensor) {
    return std::binary_search(positions.begin(), positions.end(), count++) ? at::Tensor() : tensor;
  });
}

} // namespace

std::vector<char> pickled(const c10::IValue &value) {
  return torch::jit::pickle_save(without_undefined(value));
}

c10::IValue unpickled(std::string_view bytes) {
  // torch::jit::pickle_load() does the same, but wants a copy of its own.
  caffe2::serialize::PyTorchStreamReader reader(
      std::make_unique<caffe2::serialize::MemoryReadAdapter>(bytes.data(), static_cast<off_t>(bytes.size())));
  return with_undefined(torch::jit::readArchiveAndTensors("data", "", "", {}, {}, {}, reader));
}

} // namespace repro_minify
