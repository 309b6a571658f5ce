#include "program/archive_records.h"

#include "inputs/pickle/depth.h"
#include "inputs/pickle/storage.h"
#include "program/saved_tensors.h"
#include "repro_minify/program.h"

#include <caffe2/serialize/inline_container.h>

namespace repro_minify {
namespace {

using Zip = caffe2::serialize::PyTorchStreamReader;
using pickle::CannotRead;

/// Far more than models have: LibTorch goes down into values, and later into types, by recursion.
constexpr size_t deepest_values = 500;
constexpr uint64_t most_code = uint64_t{256} << 20;

/// The bytes of a storage that the pickle declares, at most as many as there are.
uint64_t declared_bytes(Zip &zip, const std::string &folder, const pickle::Value &persistent) {
  const auto id = pickle::storage_id(persistent);
  const auto &parts = persistent.argument->items;
  const auto count = parts[4]->is(pickle::Value::Kind::Int) ? parts[4]->integer : -1;
  uint64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(static_cast<uint64_t>(count), id.element_size, &bytes))
    throw CannotRead("has a storage of an impossible size");
  if (bytes == 0 || id.location == "meta")
    return bytes;
  const std::string record = folder + std::string(id.key);
  if (!zip.hasRecord(record))
    throw CannotRead("lacks the data of a tensor (" + record.substr(0, 60) + ")");
  const uint64_t there = zip.getRecordSize(record);
  if (bytes > there)
    throw CannotRead("says that " + record.substr(0, 60) + " holds " + std::to_string(bytes) + " bytes, and it holds " +
                     std::to_string(there));
  return bytes;
}

void require_inside(Zip &zip, const std::string &folder, const pickle::Value &tensor) {
  const auto &arguments = tensor.argument->items;
  if (arguments.empty() || !arguments[0]->is(pickle::Value::Kind::Persistent))
    throw CannotRead("holds a tensor without data");
  const uint64_t bytes = declared_bytes(zip, folder, *arguments[0]);
  const uint64_t element = pickle::storage_id(*arguments[0]).element_size;
  if (static_cast<uint64_t>(elements_needed(tensor)) > bytes / element)
    throw CannotRead("holds a tensor that reaches beyond its data");
}

bool is_tensor_with_data(const pickle::Value &value) {
  const std::string name = value.is(pickle::Value::Kind::Object) ? value.name() : "";
  return name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor" ||
         name == "torch._utils._rebuild_tensor_v3" || name == "torch._utils._rebuild_qtensor";
}

void check_values(Zip &zip, const std::string &name) {
  if (!zip.hasRecord(name + ".pkl"))
    return;
  const auto [data, size] = zip.getRecord(name + ".pkl");
  const pickle::Document document = pickle::read({static_cast<const char *>(data.get()), size});
  if (pickle::is_deeper_than(document, deepest_values))
    throw CannotRead("holds values that are nested more than " + std::to_string(deepest_values) + " deep");
  const std::string folder = name + "/";
  for (const auto &value : document.values)
    if (is_tensor_with_data(value))
      require_inside(zip, folder, value);
    else if (value.is(pickle::Value::Kind::Persistent))
      declared_bytes(zip, folder, value);
}

void check_code(Zip &zip) {
  uint64_t bytes = 0;
  for (const auto &name : zip.getAllRecords())
    if (name.starts_with("code/"))
      bytes += zip.getRecordSize(name);
  if (bytes > most_code)
    throw CannotRead("has " + std::to_string(bytes >> 20) + " MiB of code, more than the " +
                     std::to_string(most_code >> 20) + " that are read");
}

} // namespace

void require_sound_records(const std::string &path) {
  try {
    Zip zip(path);
    check_code(zip);
    check_values(zip, "constants");
    check_values(zip, "data");
  } catch (const CannotRead &problem) {
    throw UserError(path + ": " + problem.what());
  }
}

} // namespace repro_minify
