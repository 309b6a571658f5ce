#include "check/device_error.h"

#include "program/run_settings.h"

namespace repro_minify {

bool is_out_of_memory(const std::string &message) {
  for (const char *words : {"not enough memory", "can't allocate memory", "out of memory"})
    if (message.find(words) != std::string::npos)
      return true;
  return false;
}

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
