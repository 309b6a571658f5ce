#include "program/pickle.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace repro_minify::pickle {
namespace {

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
