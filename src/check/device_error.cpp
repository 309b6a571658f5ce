#include "check/device_error.h"

#include "repro_minify/run_settings.h"

namespace repro_minify {

bool device_is_lost(const std::string &message, c10::Device device) {
  if (!device.is_cuda() || message.find("CUDA error") == std::string::npos)
    return false;
  try {
    synchronize(device);
  } catch (const std::exception &) {
    return true;
  }
  return false;
}

} // namespace repro_minify
