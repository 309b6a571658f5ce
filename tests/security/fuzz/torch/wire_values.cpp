// Values as TorchInductor's worker sends them, behind a frame that holds together: JSON, and the memory of 64 bytes.
#include "backends/inductor/inductor_wire.h"
#include "core/no_answer.h"
#include "security/fuzz/harness.h"

#include <ATen/ATen.h>

namespace repro_minify::fuzz {
namespace {

void touch(const c10::IValue &value) {
  if (value.isTensor() && value.toTensor().defined() && value.toTensor().numel() < 1000)
    value.toTensor().clone();
}

void try_wire_values(std::string_view bytes) {
  const auto words = nlohmann::json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  try {
    touch(WireReader({at::zeros({64}, at::kByte)}).read(words));
  } catch (const nlohmann::json::exception &) { // all of these are what the backend makes an answer of
  } catch (const c10::Error &) {
  } catch (const std::out_of_range &) {
  } catch (const std::invalid_argument &) {
  } catch (const NoAnswer &) {
  }
}

const Registered registered_wire_values({"wire_values", try_wire_values});

} // namespace
} // namespace repro_minify::fuzz
