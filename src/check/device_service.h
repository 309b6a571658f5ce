// Checks on a device, one after the other, in a process that holds the device.
#pragma once
#include "repro_minify/check.h"

#include <functional>
#include <memory>
#include <string>

namespace repro_minify {

/// Returns a service whose questions are programs (to_bytes()) and whose answers are those of check_job(): the context
/// that a process makes on a device takes longer than most checks, as does that of the Python that works for it. Null
/// on the CPU, where a check makes none. $REPRO_MINIFY_QUESTIONS says how many questions a process answers: with 1 each
/// has a process of its own, with which tests and measurements compare.
std::shared_ptr<const Service> device_service(std::shared_ptr<const Backend> backend, const CheckOptions &options);

/// Returns a job of the service for the program, which is kept until the job has ended.
Job check_by(std::shared_ptr<const Service> service, std::shared_ptr<const Program> program);

/// Checks of one model under variants of a backend, each known by a text: on a device in one process that is kept, else
/// in a process each.
class VariantChecks {
public:
  /// `variant_of` is called in the processes that check.
  using VariantOf = std::function<std::shared_ptr<const Backend>(const std::string &)>;

  VariantChecks(ModuleFactory factory, VariantOf variant_of, CheckOptions options, Limits limits);
  /// Returns what check() returns for that variant.
  Verdict operator()(const std::string &variant);

private:
  JobEnd ask(const std::string &variant);

  const ModuleFactory factory_;
  const VariantOf variant_of_;
  const CheckOptions options_;
  const Limits limits_;
  std::shared_ptr<const Service> service_; ///< null on the CPU
  TaskGroup group_{1};
};

} // namespace repro_minify
