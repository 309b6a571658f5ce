// Element types as generated C++ knows them: how they lie in memory, and what is computed in.
#pragma once
#include <string>

namespace repro_minify {

enum class Element { Bool, UInt8, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64 };

inline const char *storage_type(Element element) {
  constexpr const char *names[] = {"bool",    "uint8_t", "int8_t",   "int16_t", "int32_t",
                                   "int64_t", "float16", "bfloat16", "float",   "double"};
  return names[static_cast<int>(element)];
}

inline bool is_16_bit(Element element) {
  return element == Element::Float16 || element == Element::BFloat16;
}
inline bool is_floating(Element element) {
  return element >= Element::Float16;
}

/// Returns the type that values are held in between operators: float for 16-bit types, as in TorchInductor.
inline Element compute_element(Element element) {
  return is_16_bit(element) ? Element::Float32 : element;
}
inline const char *compute_type(Element element) {
  return storage_type(compute_element(element));
}

} // namespace repro_minify
