#include "program/pickle.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace repro_minify::pickle {
namespace {

using Kind = Value::Kind;

/// "<f4", "f4" or "|b1".
void set_dtype(Array &array, std::string_view text) {
  if (!text.empty() && (text[0] == '<' || text[0] == '>' || text[0] == '|' || text[0] == '=')) {
    array.swapped = text[0] == '>';
    text.remove_prefix(1);
  }
  static constexpr std::string_view known[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                               "u4", "u8", "f2", "f4", "f8", "c8", "c16"};
  for (const auto name : known)
    if (name == text) {
      array.dtype = name;
      std::from_chars(name.data() + 1, name.data() + name.size(), array.element_size);
      return;
    }
  throw CannotRead("holds a numpy array of dtype '" + std::string(text.substr(0, 20)) +
                   "', which no tensor has; convert it to numbers first");
}

/// How many bytes the shape needs; throws for more than there can be.
uint64_t bytes_needed(const Array &array) {
  uint64_t bytes = array.element_size;
  if (array.shape.size() > 64)
    throw CannotRead("holds a numpy array of more than 64 dimensions");
  for (const int64_t size : array.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      throw CannotRead("holds a numpy array of an impossible shape");
  return bytes;
}

void require_all_there(const Array &array) {
  if (array.data().size() != bytes_needed(array))
    throw CannotRead("holds a numpy array whose shape does not fit its data");
}

std::vector<int64_t> shape_of(const Value &tuple) {
  std::vector<int64_t> shape;
  if (!tuple.is(Kind::Tuple) && !tuple.is(Kind::List))
    throw CannotRead("holds a numpy array without a shape");
  for (const Value *size : tuple.items) {
    if (!size->is(Kind::Int))
      throw CannotRead("holds a numpy array of an impossible shape");
    shape.push_back(size->integer);
  }
  return shape;
}

/// numpy.dtype('f4', False, True), then a state whose second part says the order of bytes.
void set_dtype(Array &array, const Value &dtype) {
  if (!dtype.is(Kind::Object) || dtype.name() != "numpy.dtype" || dtype.argument->items.empty() ||
      !dtype.argument->items[0]->is(Kind::Text))
    throw CannotRead("holds a numpy array of an unknown dtype");
  set_dtype(array, dtype.argument->items[0]->text);
  if (dtype.state && dtype.state->is(Kind::Tuple) && dtype.state->items.size() > 1 &&
      dtype.state->items[1]->is(Kind::Text))
    array.swapped = dtype.state->items[1]->text == ">";
}

std::string from_utf8(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<uint8_t>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
      continue;
    }
    if ((first != 0xc2 && first != 0xc3) || i + 1 == text.size() || (static_cast<uint8_t>(text[i + 1]) & 0xc0) != 0x80)
      throw CannotRead("holds bytes that are none");
    bytes += static_cast<char>((first & 3) << 6 | (static_cast<uint8_t>(text[++i]) & 0x3f));
  }
  return bytes;
}

/// bytearray(bytes), in Python 2 bytes(bytes).
bool is_made_of_bytes(const Value &value) {
  return value.is(Kind::Object) && (value.name() == "builtins.bytearray" || value.name() == "__builtin__.bytes") &&
         value.argument->items.size() <= 1;
}

/// bytes, bytearray(bytes) or _codecs.encode(text, 'latin1').
void set_data(Array &array, const Value &given) {
  const Value *value = &given;
  while (is_made_of_bytes(*value)) {
    if (value->argument->items.empty()) // no bytes at all
      return;
    value = value->argument->items[0];
  }
  if (value->is(Kind::Bytes))
    array.bytes = value->text;
  else if (value->is(Kind::Object) && value->name() == "_codecs.encode" && !value->argument->items.empty() &&
           value->argument->items[0]->is(Kind::Text))
    array.decoded = from_utf8(value->argument->items[0]->text);
  else
    throw CannotRead("holds a numpy array of Python objects; convert it to numbers first");
}

/// The state that _reconstruct's array is given: version, shape, dtype, whether in Fortran's order, bytes.
Array from_state(const Value *state) {
  if (!state || !state->is(Kind::Tuple) || state->items.size() != 5)
    throw CannotRead("holds a numpy array without data");
  Array array;
  set_dtype(array, *state->items[2]);
  array.shape = shape_of(*state->items[1]);
  array.fortran = state->items[3]->integer != 0;
  set_data(array, *state->items[4]);
  return array;
}

/// Protocol 5: _frombuffer(bytes, dtype, shape, 'C').
Array from_buffer(const std::vector<const Value *> &arguments) {
  if (arguments.size() != 4)
    throw CannotRead("holds a numpy array without data");
  Array array;
  set_data(array, *arguments[0]);
  set_dtype(array, *arguments[1]);
  array.shape = shape_of(*arguments[2]);
  array.fortran = arguments[3]->text == "F";
  return array;
}

Array from_scalar(const std::vector<const Value *> &arguments) {
  if (arguments.size() != 2)
    throw CannotRead("holds a numpy number without a value");
  Array array;
  set_dtype(array, *arguments[0]);
  set_data(array, *arguments[1]);
  return array;
}

/// Returns what follows `key` in the header of a .npy file, a Python dict of three known entries.
std::string_view entry(std::string_view header, std::string_view key) {
  const auto at = header.find(key);
  if (at == std::string_view::npos)
    throw CannotRead("is a .npy file without " + std::string(key));
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of(": "), header.size()));
  return header;
}

std::vector<int64_t> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  const auto close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos)
    throw CannotRead("is a .npy file without a shape");
  text = text.substr(1, close - 1);
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    if (text.empty())
      break;
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc())
      throw CannotRead("is a .npy file of an impossible shape");
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return shape;
}

constexpr std::string_view npy_magic("\x93NUMPY", 6);

} // namespace

bool is_npy(std::string_view bytes) {
  return bytes.substr(0, npy_magic.size()) == npy_magic;
}

Array read_npy(std::string_view bytes) {
  ByteReader in(bytes);
  in.take(npy_magic.size());
  const uint8_t version = in.byte();
  in.byte();
  const std::string_view header = in.take(version == 1 ? in.number<uint16_t>() : in.number<uint32_t>());
  Array array;
  const auto dtype = entry(header, "'descr'");
  if (dtype.empty() || dtype[0] != '\'')
    throw CannotRead("is a .npy file of records, not of numbers");
  set_dtype(array, dtype.substr(1, dtype.find('\'', 1) - 1));
  array.fortran = entry(header, "'fortran_order'").substr(0, 4) == "True";
  array.shape = parse_shape(entry(header, "'shape'"));
  array.bytes = in.take(bytes_needed(array));
  return array;
}

std::optional<Array> array_of(const Value &object) {
  const std::string name = object.name();
  const auto in_numpy = [&](std::string_view function) {
    return name == "numpy.core." + std::string(function) || name == "numpy._core." + std::string(function);
  };
  std::optional<Array> array;
  if (!object.is(Kind::Object))
    return array;
  if (in_numpy("multiarray._reconstruct"))
    array = from_state(object.state);
  else if (in_numpy("numeric._frombuffer"))
    array = from_buffer(object.argument->items);
  else if (in_numpy("multiarray.scalar"))
    array = from_scalar(object.argument->items);
  if (array)
    require_all_there(*array);
  return array;
}

} // namespace repro_minify::pickle
