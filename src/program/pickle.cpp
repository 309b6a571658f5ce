#include "program/pickle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace repro_minify::pickle {
namespace {

std::vector<const Value *> parts_of(const Value &value) {
  std::vector<const Value *> parts(value.items.begin(), value.items.end());
  for (const auto &[key, entry] : value.entries)
    parts.insert(parts.end(), {key, entry});
  for (const Value *part : {value.callee, value.argument, value.state})
    if (part)
      parts.push_back(part);
  return parts;
}

struct Level {
  const Value *value;
  std::vector<const Value *> parts;
  std::size_t next = 0, deepest_part = 0;
};

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

constexpr std::string_view magic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);

/// How large the elements of each storage are, by key: the file says how many they are.
std::map<std::string_view, size_t> element_sizes(const Document &document) {
  std::map<std::string_view, size_t> sizes;
  for (const auto &value : document.values)
    if (value.is(Value::Kind::Persistent)) {
      const StorageId id = storage_id(value);
      sizes.emplace(id.key, id.element_size);
    }
  return sizes;
}

void require_little_endian(const Document &machine) {
  if (!machine.root->is(Value::Kind::Dict))
    throw CannotRead("does not say on what machine it was saved");
  for (const auto &[key, value] : machine.root->entries)
    if (key->is(Value::Kind::Text) && key->text == "little_endian" && value->is(Value::Kind::Bool) && !value->integer)
      throw CannotRead("was saved on a big-endian machine");
}

} // namespace

bool is_deeper_than(const Document &document, std::size_t depth) {
  std::unordered_map<const Value *, std::size_t> depths; // 0: begun, and not done
  std::vector<Level> path;
  const auto begin = [&](const Value &value) {
    depths[&value] = 0;
    path.push_back({&value, parts_of(value)});
  };
  begin(*document.root);
  while (!path.empty()) {
    if (path.size() > depth)
      return true;
    Level &level = path.back();
    if (level.next < level.parts.size()) {
      const Value *part = level.parts[level.next++];
      if (const auto known = depths.find(part); known == depths.end())
        begin(*part);
      else
        level.deepest_part = std::max(level.deepest_part, known->second);
      continue;
    }
    const std::size_t reached = level.deepest_part + 1;
    if (path.size() - 1 + reached > depth)
      return true;
    depths[level.value] = reached;
    path.pop_back();
    if (!path.empty())
      path.back().deepest_part = std::max(path.back().deepest_part, reached);
  }
  return false;
}

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

bool is_legacy_file(std::string_view bytes) {
  // PROTO n, in protocol 4 and above a FRAME, LONG1 with 10 bytes.
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes.substr(0, 64).find(magic) != std::string_view::npos;
}

LegacyFile read_legacy_file(std::string_view bytes) {
  size_t position = 0;
  const auto next = [&] {
    Document document = read(bytes.substr(position));
    position += document.size;
    return document;
  };
  if (const Document first = next(); !first.root->is(Value::Kind::Long) || first.root->text != magic)
    throw CannotRead("is no file of torch.save");
  next(); // the version of the protocol: 1001, there has been no other
  require_little_endian(next());
  LegacyFile file{next(), {}};
  const auto sizes = element_sizes(file.document);
  const Document keys = next();
  if (!keys.root->is(Value::Kind::List))
    throw CannotRead("does not list its storages");
  ByteReader rest(bytes.substr(position));
  for (const Value *key : keys.root->items) {
    const auto known = key->is(Value::Kind::Text) ? sizes.find(key->text) : sizes.end();
    if (known == sizes.end())
      throw CannotRead("lists a storage that nothing is in");
    const auto elements = rest.number<uint64_t>();
    if (elements > bytes.size())
      throw CannotRead("ends too early (was it saved, or copied, to the end?)");
    // The keys are the list's, which goes: those of the file stay.
    file.storages[known->first] = rest.take(elements * known->second);
  }
  return file;
}

} // namespace repro_minify::pickle
