#include "backends/inductor/inductor_wire.h"

#include "backends/backend_parts.h"
#include "core/frame.h"
#include "core/no_answer.h"
#include "core/number_text.h"
#include "program/values.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>

#include <algorithm>
#include <cstdlib>

namespace repro_minify {
namespace {

double number_in(const std::string &text) {
  return std::strtod(text.c_str(), nullptr); // also Python's inf and nan
}

template <typename T> c10::IValue list_of(const std::vector<c10::IValue> &parts) {
  c10::List<T> list;
  for (const auto &part : parts)
    list.push_back(part.to<T>());
  return list;
}

/// Throws NoAnswer if the tensor reaches beyond its memory, which LibTorch would enlarge by uninitialised memory.
void require_within(const at::Tensor &bytes, size_t itemsize, const std::vector<int64_t> &sizes,
                    const std::vector<int64_t> &strides, int64_t offset) {
  const auto is_negative = [](int64_t number) { return number < 0; };
  if (sizes.size() != strides.size() || offset < 0 || std::any_of(sizes.begin(), sizes.end(), is_negative) ||
      std::any_of(strides.begin(), strides.end(), is_negative) ||
      at::detail::computeStorageNbytes(sizes, strides, itemsize, static_cast<size_t>(offset)) >
          bytes.storage().nbytes())
    throw NoAnswer("the Python worker sent a tensor that is larger than its memory");
}

} // namespace

bool send_message(int socket, const InductorMessage &message) {
  std::vector<int64_t> sizes;
  for (const auto &blob : message.blobs)
    sizes.push_back(blob.numel());
  return send_header(socket, message.header, sizes) &&
         std::all_of(message.blobs.begin(), message.blobs.end(), [&](const at::Tensor &blob) {
           return send_bytes(socket, blob.const_data_ptr(), static_cast<size_t>(blob.numel()));
         });
}

std::optional<InductorMessage> receive_message(int socket) {
  std::optional<FrameHeader> header;
  try {
    header = receive_header(socket);
  } catch (const std::runtime_error &error) {
    throw NoAnswer(std::string("the Python worker: ") + error.what());
  }
  if (!header)
    return std::nullopt;
  InductorMessage message{std::move(header->content), {}};
  for (const auto length : header->blobs) {
    at::Tensor blob = at::empty({length}, at::kByte);
    if (!receive_bytes(socket, blob.data_ptr(), static_cast<size_t>(length)))
      return std::nullopt;
    message.blobs.push_back(std::move(blob));
  }
  return message;
}

at::Tensor bytes_of(const c10::Storage &storage) {
  const auto options = at::TensorOptions().dtype(at::kByte).device(storage.device());
  return at::empty({0}, options).set_(storage, 0, {static_cast<int64_t>(storage.nbytes())}, {1});
}

std::string string_of(const at::Tensor &blob) {
  return {static_cast<const char *>(blob.const_data_ptr()), static_cast<size_t>(blob.numel())};
}

size_t WireWriter::place_of(const c10::Storage &storage) {
  const auto [entry, is_new] = places_.try_emplace(storage.unsafeGetStorageImpl(), blobs_.size());
  if (is_new) {
    storages_.resize(blobs_.size());
    storages_.push_back(storage);
    blobs_.push_back(bytes_of(storage).cpu());
  }
  return entry->second;
}

json WireWriter::write_tensor(const at::Tensor &given) {
  if (!given.defined())
    return {{"none", nullptr}};
  if (given.layout() != at::kStrided || given.is_quantized() || !given.has_storage())
    throw CannotCompile("TorchInductor is given dense tensors only, not " + describe(given));
  const at::Tensor tensor = given.detach().resolve_conj().resolve_neg();
  return {{"tensor",
           {{"dtype", dtype_name(tensor.scalar_type())},
            {"sizes", tensor.sizes().vec()},
            {"strides", tensor.strides().vec()},
            {"offset", tensor.storage_offset()},
            {"storage", place_of(tensor.storage())},
            {"device", tensor.device().str()},
            {"grad", given.requires_grad()}}}};
}

json WireWriter::write(const c10::IValue &value) {
  if (value.isTensor())
    return write_tensor(value.toTensor());
  if (value.isNone())
    return {{"none", nullptr}};
  if (value.isBool())
    return {{"bool", value.toBool()}};
  if (value.isInt())
    return {{"int", value.toInt()}};
  if (value.isDouble())
    return {{"float", shortest_text(value.toDouble())}};
  if (value.isString())
    return {{"str", value.toStringRef()}};
  if (value.isDevice())
    return {{"device", value.toDevice().str()}};
  if (value.isList())
    return {{"list", write_all(value.toListRef())}};
  if (value.isTuple())
    return {{"tuple", write_all(value.toTupleRef().elements())}};
  throw CannotCompile("a value of type " + value.tagKind() + " cannot be sent to Python");
}

at::Tensor WireReader::read_tensor(const json &data) {
  const auto place = static_cast<size_t>(integer_from_json(data.at("storage")));
  const c10::Device device(data.at("device").get<std::string>());
  auto [entry, is_new] = moved_.try_emplace(place);
  if (is_new)
    entry->second = blobs_.at(place).to(device);
  const auto sizes = integers_from_json(data.at("sizes")), strides = integers_from_json(data.at("strides"));
  const auto offset = integer_from_json(data.at("offset"));
  const auto options = at::TensorOptions()
                           .dtype(dtype_named(data.at("dtype").get<std::string>()).value())
                           .device(entry->second.device());
  require_within(entry->second, options.dtype().itemsize(), sizes, strides, offset);
  return at::empty({0}, options).set_(entry->second.storage(), offset, sizes, strides);
}

c10::IValue WireReader::read_list(const json &data) {
  std::vector<c10::IValue> parts;
  for (const auto &part : data)
    parts.push_back(read(part));
  const auto all = [&](auto is) { return !parts.empty() && std::all_of(parts.begin(), parts.end(), is); };
  if (all([](const c10::IValue &part) { return part.isTensor(); }))
    return list_of<at::Tensor>(parts);
  if (all([](const c10::IValue &part) { return part.isBool(); }))
    return list_of<bool>(parts);
  if (all([](const c10::IValue &part) { return part.isInt(); }))
    return list_of<int64_t>(parts);
  if (all([](const c10::IValue &part) { return part.isDouble(); }))
    return list_of<double>(parts);
  c10::impl::GenericList list(c10::AnyType::get());
  for (const auto &part : parts)
    list.push_back(part);
  return list;
}

c10::IValue WireReader::read(const json &data) {
  if (!data.is_object() || data.size() != 1)
    throw NoAnswer("the Python worker sent what is no value");
  const std::string kind = data.begin().key();
  const json &content = data.begin().value();
  if (kind == "tensor")
    return read_tensor(content);
  if (kind == "none")
    return {};
  if (kind == "bool")
    return content.get<bool>();
  if (kind == "int")
    return integer_from_json(content);
  if (kind == "float")
    return number_in(content.get<std::string>());
  if (kind == "complex")
    return c10::complex<double>(number_in(content.at(0)), number_in(content.at(1)));
  if (kind == "str")
    return content.get<std::string>();
  if (kind == "device")
    return c10::Device(content.get<std::string>());
  if (kind == "list")
    return read_list(content);
  if (kind == "tuple") {
    std::vector<c10::IValue> parts;
    for (const auto &part : content)
      parts.push_back(read(part));
    return c10::ivalue::Tuple::create(std::move(parts));
  }
  c10::impl::GenericDict dict(c10::AnyType::get(), c10::AnyType::get());
  for (const auto &pair : content)
    dict.insert(read(pair.at(0)), read(pair.at(1)));
  return dict;
}

} // namespace repro_minify
