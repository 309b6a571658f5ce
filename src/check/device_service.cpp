#include "check/device_service.h"

#include "check/unresolved.h"
#include "program/executor.h"
#include "repro_minify/archive.h"
#include "repro_minify/backend_parts.h"

#include <ATen/ATen.h>
#include <c10/core/AutogradState.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

namespace repro_minify {
namespace {

/// Gives back to all processes what no tensor takes. Returns how much of the device's memory tensors of this process
/// take; 0 where its allocator does not say.
std::int64_t bytes_in_use(c10::Device device) {
  auto *allocator = dynamic_cast<c10::DeviceAllocator *>(c10::GetAllocator(device.type()));
  if (!allocator)
    return 0;
  allocator->emptyCache();
  const auto stats = allocator->getDeviceStats(device.index());
  return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].current;
}

/// A run reads these, and no RunScope sets them all.
struct Modes {
  bool grad, inference, denormals;
  int rounding;
  caffe2::TypeMeta dtype;
  friend bool operator==(const Modes &, const Modes &) = default;
};

Modes modes_of_this_thread() {
  volatile double smallest = std::numeric_limits<double>::min();
  const auto &autograd = c10::AutogradState::get_tls_state();
  return {autograd.get_grad_mode(), autograd.get_inference_mode(), smallest / 2 != 0, std::fegetround(),
          c10::get_default_dtype()};
}

/// Looks, after each answer, whether modes are as they were in the process that forks, and whether the device works and
/// has its memory back.
class DeviceAsBefore {
public:
  explicit DeviceAsBefore(c10::Device device) : device_(device.type(), device.has_index() ? device.index() : 0) {}

  bool operator()() {
    if (modes_of_this_thread() != modes_)
      return false;
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
  const Modes modes_ = modes_of_this_thread();
  /// The least that was in use after an answer: what libraries keep for good is there after the first.
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

std::shared_ptr<const Service> service_on(c10::Device device, decltype(Service::answer) answer) {
  if (device.is_cpu())
    return nullptr;
  Service service;
  service.answer = std::move(answer);
  if (const char *most = std::getenv("REPRO_MINIFY_QUESTIONS"))
    service.most_questions = std::atoi(most);
  service.is_as_before = [as_before = DeviceAsBefore(device)]() mutable {
    return as_before() && python_is_as_before();
  };
  return std::make_shared<Service>(std::move(service));
}

} // namespace

std::shared_ptr<const Service> device_service(std::shared_ptr<const Backend> backend, const CheckOptions &options) {
  return service_on(options.device, [backend = std::move(backend), options](Child &child, const std::string &question) {
    const ModuleFactory factory = [&](const InstantiateOptions &how) { return instantiate_bytes(question, how); };
    check_job(factory, backend, options)(child);
  });
}

Job check_by(std::shared_ptr<const Service> service, std::shared_ptr<const Program> program) {
  return {std::move(service), [program = std::move(program)] { return to_bytes(*program); }};
}

VariantChecks::VariantChecks(ModuleFactory factory, VariantOf variant_of, CheckOptions options, Limits limits)
    : factory_(std::move(factory)), variant_of_(std::move(variant_of)), options_(std::move(options)),
      limits_(std::move(limits)),
      service_(service_on(options_.device, [this](Child &child, const std::string &variant) {
        check_job(factory_, variant_of_(variant), options_)(child);
      })) {}

JobEnd VariantChecks::ask(const std::string &variant) {
  const auto ticket = group_.submit({service_, [variant] { return variant; }}, limits_);
  if (auto job_end = group_.wait(ticket, limits_.interrupted))
    return std::move(*job_end);
  group_.cancel(ticket);
  return *group_.wait(ticket);
}

Verdict VariantChecks::operator()(const std::string &variant) {
  if (!service_)
    return check(factory_, variant_of_(variant), options_, limits_);
  return ask_until_answered([&] { return verdict_of(ask(variant)); }, [&] { revive_backend(*variant_of_(variant)); },
                            limits_.interrupted);
}

} // namespace repro_minify
