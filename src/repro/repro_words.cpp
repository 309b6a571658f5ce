#include "repro_minify/repro.h"

#include "core/number_text.h"

#include <cstdint>

namespace repro_minify {

std::string reproduction_marker(const Program &program, const Signature &signature) {
  uint32_t id = 2166136261u; // FNV-1a: no secret, only unlikely
  for (const char c : canonical_hash(program) + to_string(signature))
    id = (id ^ static_cast<unsigned char>(c)) * 16777619u;
  return std::string("REPRODUCED ") + to_string(signature.kind) + " " + padded_text(id, 8, 16);
}

} // namespace repro_minify
