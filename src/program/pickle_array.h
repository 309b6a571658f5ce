// numpy's arrays, in .npy files and in pickles.
#pragma once

#include "program/pickle.h"

#include <optional>

namespace repro_minify::pickle {

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

} // namespace repro_minify::pickle
