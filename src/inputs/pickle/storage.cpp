#include "inputs/pickle/storage.h"

#include "inputs/pickle/value.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace repro_minify::pickle {
namespace {

struct Type {
  std::string_view name;
  size_t element_size;
};
constexpr Type types[] = {{"DoubleStorage", 8},   {"FloatStorage", 4},        {"HalfStorage", 2},
                          {"BFloat16Storage", 2}, {"LongStorage", 8},         {"IntStorage", 4},
                          {"ShortStorage", 2},    {"CharStorage", 1},         {"ByteStorage", 1},
                          {"BoolStorage", 1},     {"ComplexFloatStorage", 8}, {"ComplexDoubleStorage", 16},
                          {"QInt8Storage", 1},    {"QUInt8Storage", 1},       {"QInt32Storage", 4},
                          {"QUInt4x2Storage", 1}, {"QUInt2x4Storage", 1},     {"UntypedStorage", 1}};

} // namespace

StorageId storage_id(const Value &persistent) {
  if (persistent.name() == "torch.storage._load_from_bytes")
    throw CannotRead("holds tensors that pickle.dump wrote; write them with torch.save");
  const Value *id = persistent.is(Value::Kind::Persistent) ? persistent.argument : nullptr;
  if (!id || !id->is(Value::Kind::Tuple) || id->items.empty() || !id->items[0]->is(Value::Kind::Text))
    throw CannotRead("refers to values that are not in it");
  const auto &parts = id->items;
  if (parts[0]->text == "module")
    throw CannotRead("holds a pickled module, no inputs");
  if (parts[0]->text != "storage" || parts.size() < 5 || !parts[1]->is(Value::Kind::Global) ||
      !parts[2]->is(Value::Kind::Text) || !parts[3]->is(Value::Kind::Text))
    throw CannotRead("refers to values that are not in it");
  if (parts.size() > 5 && !parts[5]->is(Value::Kind::None))
    throw CannotRead("was saved by a PyTorch before 0.4; load it there, or in Python, and save it again");
  // A device may have the classes of its storages in a module of its own: torch.cuda.FloatStorage.
  const auto type =
      std::find_if(std::begin(types), std::end(types), [&](const Type &known) { return known.name == parts[1]->text; });
  if (type == std::end(types) || parts[1]->module.substr(0, 5) != "torch")
    throw CannotRead("has a storage of the unknown type " + parts[1]->name());
  return {type->name, parts[2]->text, parts[3]->text, type->element_size};
}

} // namespace repro_minify::pickle
