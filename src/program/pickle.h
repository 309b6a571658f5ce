// The content of a pickle, as data. Nothing is imported, called or built: an object is the name of its class and what
// that would have been given.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace repro_minify::pickle {

/// Thrown for a file that cannot be read. The message says why, in words that follow "FILE: ".
class CannotRead : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in the file");

/// Reads the bytes of a file from front to back. Throws CannotRead where it ends too early.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - position_)
      throw CannotRead("ends too early (was it saved, or copied, to the end?)");
    const auto taken = bytes_.substr(position_, size);
    position_ += size;
    return taken;
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  template <typename T> T number() {
    static_assert(std::is_integral_v<T>);
    T value;
    const std::string_view bytes = take(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  /// Reads a line, and skips its end, which is not returned.
  std::string_view line() {
    const size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos)
      throw CannotRead("ends too early (was it saved, or copied, to the end?)");
    const auto text = take(end - position_);
    ++position_;
    return text;
  }

private:
  std::string_view bytes_;
  size_t position_ = 0;
};

/// One value of a pickle. Text points into the bytes that were read. A container may hold itself, so code that walks
/// one has to bound its depth.
struct Value {
  enum class Kind {
    None,
    Bool,   ///< integer
    Int,    ///< integer
    Long,   ///< text: little-endian two's complement, more than 64 bits
    Float,  ///< number
    Text,   ///< text, UTF-8 (or what was taken for it)
    Bytes,  ///< text
    List,   ///< items
    Tuple,  ///< items
    Set,    ///< items
    Dict,   ///< entries
    Global, ///< module, text: a class or a function by its name
    /// callee called with `argument` (a tuple; for an Enum, as LibTorch writes it, its value), then given `state`;
    /// items and entries are those that were put in later
    Object,
    Persistent, ///< argument: what the file refers to by this
  };
  Kind kind = Kind::None;
  int64_t integer = 0;
  double number = 0;
  std::string_view text, module;
  std::vector<const Value *> items;
  std::vector<std::pair<const Value *, const Value *>> entries;
  const Value *callee = nullptr, *argument = nullptr, *state = nullptr;

  bool is(Kind wanted) const { return kind == wanted; }
  /// Returns the full name of a Global, or of an Object's class: "collections.OrderedDict". Empty for other kinds.
  std::string name() const;
};

/// One pickle. Its values live as long as it does, and as the bytes do.
struct Document {
  std::deque<Value> values;
  const Value *root = nullptr;
  size_t size = 0; ///< bytes that the pickle takes
};

/// Reads the pickle at the beginning of `bytes`, as torch.save, LibTorch and pickle.dump write them (protocols 2 to 5).
/// Throws CannotRead.
Document read(std::string_view bytes);

/// True if values are nested deeper than that. Does not recurse; a value that holds itself counts as deep as what it
/// holds beside itself.
bool is_deeper_than(const Document &document, std::size_t depth);

/// A storage as torch.save names it: ('storage', torch.FloatStorage, '0', 'cpu', 12, ...).
struct StorageId {
  std::string_view type;     ///< "FloatStorage"
  std::string_view key;      ///< names its bytes in the file
  std::string_view location; ///< "cpu", "cuda:0"
  size_t element_size = 1;   ///< bytes
};

/// Reads what a Persistent value refers to. Throws CannotRead if that is no storage.
StorageId storage_id(const Value &persistent);

// numpy's arrays, in .npy files and in pickles.

/// Bytes of elements, all of one type.
struct Array {
  std::string dtype; ///< kind and bytes of an element, as numpy has them: "f4", "i8", "b1", "c16"
  size_t element_size = 0;
  bool swapped = false; ///< big-endian
  bool fortran = false; ///< the first index runs fastest
  std::vector<int64_t> shape;
  std::string_view bytes; ///< of exactly as many elements as the shape has, unless `text` has them
  /// Protocol 2 has no bytes: UTF-8 whose characters, up to U+00FF, are the bytes. Decoded into here.
  std::string decoded;

  std::string_view data() const { return decoded.empty() ? bytes : std::string_view(decoded); }
};

/// True if these are the first bytes of a .npy file.
bool is_npy(std::string_view bytes);
/// Throws CannotRead.
Array read_npy(std::string_view bytes);

/// The array that an Object stands for, or nothing for an object of another kind. Throws CannotRead for an array that
/// is damaged or has elements that no tensor has. A scalar (numpy.float32(1)) has the shape ().
std::optional<Array> array_of(const Value &object);

// torch.save as it was before 1.6, and with _use_new_zipfile_serialization=False: pickles and the bytes of storages,
// one behind the other.

struct LegacyFile {
  Document document;
  std::map<std::string_view, std::string_view> storages; ///< bytes by key
};

/// True if these are the first bytes of such a file.
bool is_legacy_file(std::string_view bytes);
/// Throws CannotRead.
LegacyFile read_legacy_file(std::string_view bytes);

} // namespace repro_minify::pickle
