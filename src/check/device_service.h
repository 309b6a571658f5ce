// Checks of candidates on a device, one after the other, in a process that holds the device.
#pragma once
#include "repro_minify/check.h"

#include <memory>

namespace repro_minify {

/// Returns a service whose questions are programs (to_bytes()) and whose answers are those of check_job(): the context
/// that a process makes on a device takes longer than most checks, as does that of the Python that works for it. Null
/// on the CPU, where a check makes none.
std::shared_ptr<const Service> device_service(std::shared_ptr<const Backend> backend, const CheckOptions &options);

/// Returns a job of the service for the program, which is kept until the job has ended.
Job check_by(std::shared_ptr<const Service> service, std::shared_ptr<const Program> program);

} // namespace repro_minify
