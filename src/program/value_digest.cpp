#include "program/value_digest.h"

#include "program/values.h"
#include "repro_minify/identity.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace repro_minify {
namespace {

std::string digest_of_storage(const at::Tensor &tensor) {
  return digest_of({static_cast<const char *>(tensor.storage().data()), tensor.storage().nbytes()});
}

/// The contents of large tensors, read once: a reduction asks for the same weights at every check. Known by the tensor
/// (a weak reference keeps its address from being used again) and the version of its contents.
class KnownContents {
public:
  static bool is_worthwhile(const at::Tensor &tensor) { return tensor.storage().nbytes() >= 4096; }

  const std::string &digest(const at::Tensor &tensor) {
    forget_the_dead();
    const auto [entry, is_new] = known_.try_emplace(tensor.unsafeGetTensorImpl(), tensor);
    if (!is_new && (entry->second.tensor.expired() || entry->second.version != version_of(tensor)))
      entry->second = Entry(tensor);
    return entry->second.digest;
  }

private:
  using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

  struct Entry {
    explicit Entry(const at::Tensor &of)
        : tensor(of.getIntrusivePtr()), version(version_of(of)), digest(digest_of_storage(of)) {}
    WeakTensor tensor;
    int64_t version;
    std::string digest;
  };

  void forget_the_dead() {
    if (known_.size() < next_sweep_)
      return;
    std::erase_if(known_, [](const auto &entry) { return entry.second.tensor.expired(); });
    next_sweep_ = std::max(size_t{1024}, 2 * known_.size());
  }

  std::unordered_map<c10::TensorImpl *, Entry> known_;
  size_t next_sweep_ = 1024;
};

/// Numbers for values that cannot be read: one for each value and version, kept alive so that its address stays its
/// own.
class Unreadable {
public:
  uint64_t number(const c10::IValue &value) {
    const int64_t version = value.isTensor() ? version_of(value.toTensor()) : 0;
    const auto key = std::make_pair(value.internalToPointer(), version);
    return known_.try_emplace(key, value, known_.size()).first->second.second;
  }

private:
  std::map<std::pair<const void *, int64_t>, std::pair<c10::IValue, uint64_t>> known_;
};

class ValueReader {
public:
  explicit ValueReader(Digest &digest) : digest_(digest) {}

  void read(const c10::IValue &value) {
    if (value.isTensor())
      return read(value.toTensor());
    digest_.add(value.tagKind());
    if (value.isNone())
      return;
    if (value.isInt())
      digest_.add(static_cast<uint64_t>(value.toInt()));
    else if (value.isBool())
      digest_.add(uint64_t{value.toBool()});
    else if (value.isDouble())
      digest_.add(std::bit_cast<uint64_t>(value.toDouble()));
    else if (value.isComplexDouble())
      read(value.toComplexDouble());
    else if (value.isString())
      digest_.add(value.toStringRef());
    else if (value.isDevice())
      digest_.add(value.toDevice().str());
    else
      read_container(value);
  }

  bool all_was_read() const { return all_was_read_; }

private:
  void read(const c10::complex<double> &number) {
    digest_.add(std::bit_cast<uint64_t>(number.real()));
    digest_.add(std::bit_cast<uint64_t>(number.imag()));
  }

  template <typename Values> void read_all(const Values &values) {
    digest_.add(uint64_t{values.size()});
    for (const c10::IValue &value : values)
      read(value);
  }

  void read_container(const c10::IValue &value) {
    if (value.isTuple()) {
      digest_.add(value.type()->annotation_str());
      read_all(value.toTupleRef().elements());
    } else if (value.isList()) {
      digest_.add(value.type()->annotation_str());
      read_all(value.toListRef());
    } else if (value.isGenericDict()) {
      const auto dict = value.toGenericDict();
      digest_.add(value.type()->annotation_str());
      digest_.add(uint64_t{dict.size()});
      for (const auto &entry : dict) {
        read(entry.key());
        read(entry.value());
      }
    } else if (value.isEnum()) {
      digest_.add(value.toEnumHolder()->qualifiedClassName());
      read(value.toEnumHolder()->value());
    } else if (value.isObject()) {
      read(value, *value.toObject());
    } else {
      give_up_on(value);
    }
  }

  /// One of TorchScript's own is its attributes; one of C++ holds a capsule.
  void read(const c10::IValue &value, const c10::ivalue::Object &object) {
    digest_.add(object.name());
    if (is_opaque_object(value)) {
      const std::string &state = digest_of_object(value);
      return state.empty() ? give_up_on(value) : digest_.add(state);
    }
    if (seen_.insert(&object).second)
      read_all(object.slots());
  }

  void read(const at::Tensor &tensor) {
    digest_.add(uint64_t{tensor.defined()});
    if (!tensor.defined())
      return;
    if (tensor.is_nested() || tensor.unsafeGetTensorImpl()->is_python_dispatch())
      return give_up_on(tensor);
    digest_.add(static_cast<uint64_t>(tensor.scalar_type()));
    digest_.add(uint64_t{tensor.requires_grad()});
    digest_.add(static_cast<uint64_t>(tensor.layout()));
    digest_.add(tensor.device().str());
    digest_.add(uint64_t{tensor.sizes().size()});
    for (const auto size : tensor.sizes())
      digest_.add(static_cast<uint64_t>(size));
    if (tensor.layout() == at::kStrided)
      read_strided(tensor);
    else if (tensor.layout() == at::kSparse)
      read_sparse({tensor._indices(), tensor._values()}, tensor.is_coalesced());
    else if (tensor.layout() == at::kSparseCsr || tensor.layout() == at::kSparseBsr)
      read_sparse({tensor.crow_indices(), tensor.col_indices(), tensor.detach().values()});
    else if (tensor.layout() == at::kSparseCsc || tensor.layout() == at::kSparseBsc)
      read_sparse({tensor.ccol_indices(), tensor.row_indices(), tensor.detach().values()});
    else
      give_up_on(tensor);
  }

  void read_sparse(const std::vector<at::Tensor> &parts, bool coalesced = true) {
    digest_.add(uint64_t{coalesced});
    for (const auto &part : parts)
      read(part.detach());
  }

  void read_strided(const at::Tensor &tensor) {
    digest_.add(uint64_t{tensor.is_conj()} + 2 * uint64_t{tensor.is_neg()});
    for (const auto stride : tensor.strides())
      digest_.add(static_cast<uint64_t>(stride));
    digest_.add(static_cast<uint64_t>(tensor.storage_offset()));
    if (tensor.is_quantized())
      read_quantiser(tensor);
    if (tensor.is_meta())
      return; // there are no bytes
    if (!tensor.is_cpu() || !tensor.has_storage())
      return give_up_on(tensor);
    static thread_local KnownContents known;
    digest_.add(uint64_t{tensor.storage().nbytes()});
    if (KnownContents::is_worthwhile(tensor))
      digest_.add(known.digest(tensor));
    else
      digest_.add(tensor.storage().data(), tensor.storage().nbytes());
  }

  void read_quantiser(const at::Tensor &tensor) {
    digest_.add(static_cast<uint64_t>(tensor.qscheme()));
    if (tensor.qscheme() == at::kPerTensorAffine || tensor.qscheme() == at::kPerTensorSymmetric) {
      digest_.add(std::bit_cast<uint64_t>(tensor.q_scale()));
      digest_.add(static_cast<uint64_t>(tensor.q_zero_point()));
    } else {
      digest_.add(static_cast<uint64_t>(tensor.q_per_channel_axis()));
      read(tensor.q_per_channel_scales());
      read(tensor.q_per_channel_zero_points());
    }
  }

  void give_up_on(const c10::IValue &value) {
    static thread_local Unreadable unreadable;
    digest_.add(name_of_this_process());
    digest_.add(unreadable.number(value));
    all_was_read_ = false;
  }

  Digest &digest_;
  std::set<const c10::ivalue::Object *> seen_;
  bool all_was_read_ = true;
};

} // namespace

bool add_value(Digest &digest, const c10::IValue &value) {
  const at::NoGradGuard no_grad;
  ValueReader reader(digest);
  reader.read(value);
  return reader.all_was_read();
}

std::string digest_of(const c10::IValue &value) {
  Digest digest;
  return add_value(digest, value) ? digest.text() : "";
}

} // namespace repro_minify
