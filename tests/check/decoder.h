// Reads the values that same_oracle.py and assert_close_oracle.py have written.
#pragma once
#include <ATen/ATen.h>
#include <ATen/core/class_type.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

inline bool is_marker(const c10::IValue &value, const char *name) {
  if (!value.isTuple() || value.toTupleRef().elements().empty())
    return false;
  const c10::IValue &first = value.toTupleRef().elements()[0];
  return first.isString() && first.toStringRef() == name;
}

class Decoder {
public:
  explicit Decoder(const c10::impl::GenericDict &pools) {
    for (const auto &pool : pools)
      pools_[pool.key().toStringRef()] = pool.value().toTensor();
  }

  c10::IValue decode(const c10::IValue &value) const {
    if (is_marker(value, "#tensor"))
      return decode_tensor(value.toTupleRef().elements());
    if (is_marker(value, "#layout"))
      return decode_layout(value.toTupleRef().elements());
    if (is_marker(value, "#int"))
      return static_cast<std::int64_t>(std::stoll(part(value, 1).toStringRef()));
    if (is_marker(value, "#device"))
      return c10::Device(part(value, 1).toStringRef());
    if (is_marker(value, "#complex"))
      return c10::complex<double>(part(value, 1).toDouble(), part(value, 2).toDouble());
    if (is_marker(value, "#object"))
      return decode_object(part(value, 1).toStringRef(), part(value, 2).toGenericDict());
    if (value.isTuple())
      return c10::ivalue::Tuple::create(decode_all(value.toTupleRef().elements()));
    if (value.isList()) {
      c10::impl::GenericList list(c10::AnyType::get());
      for (const c10::IValue &element : decode_all(value.toListRef()))
        list.push_back(element);
      return list;
    }
    if (!value.isGenericDict())
      return value;
    c10::impl::GenericDict dict(c10::AnyType::get(), c10::AnyType::get());
    for (const auto &item : value.toGenericDict())
      dict.insert(item.key(), decode(item.value()));
    return dict;
  }

private:
  static const c10::IValue &part(const c10::IValue &tuple, std::size_t i) { return tuple.toTupleRef().elements()[i]; }

  std::vector<c10::IValue> decode_all(c10::ArrayRef<c10::IValue> values) const {
    std::vector<c10::IValue> decoded;
    for (const c10::IValue &value : values)
      decoded.push_back(decode(value));
    return decoded;
  }

  /// A copy of its own, since alignment can change the order that a sum is taken in.
  c10::IValue decode_tensor(c10::ArrayRef<c10::IValue> parts) const {
    std::vector<std::int64_t> shape;
    std::int64_t size = 1;
    for (const c10::IValue &length : parts[3].toListRef()) {
      shape.push_back(length.toInt());
      size *= length.toInt();
    }
    const std::string layout = parts[4].toStringRef();
    at::Tensor tensor = pools_.at(parts[1].toStringRef()).narrow(0, parts[2].toInt(), size).clone().view(shape);
    if (layout == "transposed")
      tensor = tensor.t().contiguous().t();
    if (layout == "sparse")
      tensor = tensor.to_sparse();
    return tensor.set_requires_grad(parts[5].toBool());
  }

  static std::vector<std::int64_t> sizes(const c10::IValue &list) {
    std::vector<std::int64_t> numbers;
    for (const c10::IValue &number : list.toListRef())
      numbers.push_back(number.toInt());
    return numbers;
  }

  /// ("#layout", name, parts, shape): what PyTorch would have to unpickle piece by piece.
  c10::IValue decode_layout(c10::ArrayRef<c10::IValue> row) const {
    const std::string name = row[1].toStringRef();
    std::vector<at::Tensor> parts;
    for (const c10::IValue &part : row[2].toListRef())
      parts.push_back(decode(part).toTensor());
    const std::vector<std::int64_t> shape = sizes(row[3]);
    const at::TensorOptions options = parts.back().options();
    if (name == "coo")
      return at::_sparse_coo_tensor_unsafe(parts[0], parts[1], shape, options.layout(at::kSparse));
    if (name == "csr")
      return at::sparse_compressed_tensor(parts[0], parts[1], parts[2], shape, options.layout(at::kSparseCsr));
    if (name == "csc")
      return at::sparse_compressed_tensor(parts[0], parts[1], parts[2], shape, options.layout(at::kSparseCsc));
    if (name == "bsr")
      return at::sparse_compressed_tensor(parts[0], parts[1], parts[2], shape, options.layout(at::kSparseBsr));
    for (const auto &[written, type] :
         {std::pair{"uint16", at::kUInt16}, {"uint32", at::kUInt32}, {"uint64", at::kUInt64}})
      if (name == written)
        return parts[0].to(type);
    for (const auto &[written, type] :
         {std::pair{"float8_e4m3fn", at::kFloat8_e4m3fn}, {"float8_e5m2", at::kFloat8_e5m2}})
      if (name == written)
        return parts[0].view(type);
    const at::ScalarType type = name == "quint8" ? at::kQUInt8 : name == "qint8" ? at::kQInt8 : at::kQInt32;
    const at::Tensor scale = parts[1], zero = parts[2]; // of one element: for the whole tensor
    if (scale.dim() == 0)
      return at::quantize_per_tensor(parts[0], scale.item<double>(), zero.item<std::int64_t>(), type);
    return at::quantize_per_channel(parts[0], scale, zero, 0, type);
  }

  c10::IValue decode_object(const std::string &name, const c10::impl::GenericDict &attributes) const {
    const auto type = c10::ClassType::create(c10::QualifiedName("__torch__." + name), {});
    auto object = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), attributes.size());
    std::size_t slot = 0;
    for (const auto &item : attributes) {
      type->addAttribute(item.key().toStringRef(), c10::AnyType::get());
      object->setSlot(slot++, decode(item.value()));
    }
    return object;
  }

  std::map<std::string, at::Tensor> pools_;
};

} // namespace repro_minify
