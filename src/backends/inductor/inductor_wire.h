// Messages between the `inductor` backend and its Python worker; wire.py is the other side and says what a frame is.
#pragma once
#include "core/json.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// A blob is a contiguous uint8 tensor on the CPU.
struct InductorMessage {
  json header = json::object();
  std::vector<at::Tensor> blobs;
};

/// False when the other side has gone.
bool send_message(int socket, const InductorMessage &message);
/// Nothing when the other side has gone. Throws NoAnswer for what is no message.
std::optional<InductorMessage> receive_message(int socket);

/// Values to words; the storages they need are added to the blobs, each once.
class WireWriter {
public:
  explicit WireWriter(std::vector<at::Tensor> &blobs) : blobs_(blobs) {}
  /// Throws CannotCompile for a tensor without dense storage, and for other values that cannot be sent.
  json write(const c10::IValue &value);
  /// Returns a list.
  template <typename Values> json write_all(const Values &values) {
    json words = json::array();
    for (const auto &value : values)
      words.push_back(write(value));
    return words;
  }
  /// The storage that each blob holds, by the blob's number.
  const std::vector<c10::Storage> &storages() const { return storages_; }

private:
  json write_tensor(const at::Tensor &tensor);
  size_t place_of(const c10::Storage &storage);

  std::vector<at::Tensor> &blobs_;
  std::map<c10::StorageImpl *, size_t> places_;
  std::vector<c10::Storage> storages_; ///< of each blob; also keeps them alive
};

/// Words to values. Tensors of one storage share one.
class WireReader {
public:
  explicit WireReader(std::vector<at::Tensor> blobs) : blobs_(std::move(blobs)) {}
  c10::IValue read(const json &data);

private:
  at::Tensor read_tensor(const json &data);
  c10::IValue read_list(const json &data);

  std::vector<at::Tensor> blobs_;
  std::map<size_t, at::Tensor> moved_; ///< the blobs where their tensors are
};

/// All bytes of a storage as a uint8 tensor that shares them.
at::Tensor bytes_of(const c10::Storage &storage);

/// The bytes of a blob, copied.
std::string string_of(const at::Tensor &blob);

} // namespace repro_minify
