#include "check/device_service.h"

#include "program/executor.h"
#include "repro_minify/archive.h"
#include "repro_minify/backend_parts.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace repro_minify {
namespace {

/// Returns how much of the device's memory tensors of this process take; 0 where its allocator does not say.
std::int64_t bytes_in_use(c10::Device device) {
  auto *allocator = dynamic_cast<c10::DeviceAllocator *>(c10::GetAllocator(device.type()));
  if (!allocator)
    return 0;
  const auto stats = allocator->getDeviceStats(device.index());
  return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].current;
}

/// Looks, after each answer, whether the device works and has its memory back.
class DeviceAsBefore {
public:
  explicit DeviceAsBefore(c10::Device device) : device_(device.type(), device.has_index() ? device.index() : 0) {}

  bool operator()() {
    synchronize(device_);
    const at::Tensor one = at::ones({1}, at::device(device_));
    if ((one + one).item<double>() != 2)
      return false;
    const std::int64_t bytes = bytes_in_use(device_);
    least_ = std::min(least_, bytes);
    return bytes - least_ <= may_stay;
  }

private:
  /// LibTorch keeps the constants of the graph that ran last.
  static constexpr std::int64_t may_stay = std::int64_t{64} << 20;

  const c10::Device device_;
  /// The least that was in use after an answer: what libraries keep for good is there after the first.
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

} // namespace

std::shared_ptr<const Service> device_service(std::shared_ptr<const Backend> backend, const CheckOptions &options) {
  if (options.device.is_cpu())
    return nullptr;
  Service service;
  service.answer = [backend = std::move(backend), options](Child &child, const std::string &question) {
    const ModuleFactory factory = [&](const InstantiateOptions &how) { return instantiate_bytes(question, how); };
    check_job(factory, backend, options)(child);
  };
  service.is_as_before = [as_before = DeviceAsBefore(options.device)]() mutable {
    return as_before() && python_is_as_before();
  };
  return std::make_shared<Service>(std::move(service));
}

Job check_by(std::shared_ptr<const Service> service, std::shared_ptr<const Program> program) {
  return {std::move(service), [program = std::move(program)] { return to_bytes(*program); }};
}

} // namespace repro_minify
