// The content of a pickle, as data. Nothing is imported, called or built: an object is the name of its class and what
// that would have been given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace repro_minify::pickle {

/// Why a file cannot be read, in words that follow "FILE: ".
class CannotRead : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Text points into the bytes that were read. A container may hold itself: who walks one counts.
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
    /// callee called with `argument` (a tuple; of an Enum, as LibTorch writes it, its value), given `state`; items and
    /// entries that were put in later
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
  /// "collections.OrderedDict", of a Global and of an Object's callee; else empty.
  std::string name() const;
};

/// One pickle. Its values live as long as it does, and as the bytes do.
struct Document {
  std::deque<Value> values;
  const Value *root = nullptr;
  size_t size = 0; ///< bytes it took
};

/// Reads the pickle at the beginning of `bytes`, as torch.save, LibTorch and pickle.dump write them (protocols 2 to 5).
/// Throws CannotRead.
Document read(std::string_view bytes);

} // namespace repro_minify::pickle
