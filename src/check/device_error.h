// Tells from an error's message whether the device is lost. Internal to src/check.
#pragma once
#include <c10/core/Device.h>

#include <string>

namespace repro_minify {

/// True if `message` is a CUDA error that stays: the device raises it again when asked for nothing at all. (An illegal
/// address, a device-side assertion: the context is gone until its process ends.)
bool device_is_lost(const std::string &message, c10::Device device);

} // namespace repro_minify
