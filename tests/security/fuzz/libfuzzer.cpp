// The one harness that is linked in, for libFuzzer. Its exceptions are not caught, so that libFuzzer keeps the bytes.
#include "security/fuzz/harness.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  repro_minify::fuzz::harnesses().front().run({reinterpret_cast<const char *>(data), size});
  return 0;
}
