// Reads bytes of a file that was not checked before: throws CannotRead where it ends too early.
#pragma once
#include "inputs/pickle/value.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace repro_minify::pickle {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in the file");

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
  /// Up to the end of the line, which is left behind.
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

} // namespace repro_minify::pickle
