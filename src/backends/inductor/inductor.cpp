// The real TorchInductor: the program goes to a Python process that compiles and runs it (backends/inductor/), and its
// results are brought back.
#include "backends/backend_parts.h"
#include "backends/backend_registry.h"
#include "backends/inductor/inductor_wire.h"
#include "backends/inductor/inductor_worker.h"
#include "backends/inductor/worker_backend.h"
#include "repro_minify/program.h"
#include "tasks/compiler.h"

namespace repro_minify {
namespace {

std::vector<std::string> entries_of_inductor(const BackendOptions &options) {
  std::vector<std::string> entries;
  if (options.emulate_precision_casts)
    entries.emplace_back("emulate_precision_casts=true");
  entries.insert(entries.end(), options.inductor_config.begin(), options.inductor_config.end());
  return entries;
}

class InductorBackend : public WorkerBackend, public LibrarySettings, public OwnBisector {
public:
  explicit InductorBackend(const BackendOptions &options)
      : WorkerBackend("inductor", options, entries_of_inductor(options)) {}

  std::string summary() const override { return "the real TorchInductor, as torch.compile uses it, in Python"; }
  std::string title() const override { return "torch.compile"; }
  std::string needs() const override { return "Python with torch, a C++ compiler"; }

  Identity identity() const override {
    Identity identity = WorkerBackend::identity();
    identity.add("the C++ compiler", compiler_version());
    return identity;
  }

  std::shared_ptr<const Backend> under(const std::vector<std::string> &entries) const override {
    auto backend = std::make_shared<InductorBackend>(*this);
    backend->entries_of_checks_ = entries;
    return backend;
  }

  std::vector<std::string> what_can_go() const override { return inductor_parts(address()); }

  std::optional<OwnBisector::Finding> bisect(const Fails &fails) const override {
    const auto variant = [this](const json &state) {
      auto backend = std::make_shared<InductorBackend>(*this);
      backend->bisection_ = state;
      return backend;
    };
    return bisect_inductor(address(), variant, fails);
  }

  bool is_loaded_by_cpp() const override { return true; }

  AheadOfTime ahead_of_time(const Program &program, const json &facts) const override {
    const InductorMessage answer = ask_about("package", program, facts);
    AheadOfTime result;
    result.none_because = answer.header.at("none_because").get<std::string>();
    if (!answer.blobs.empty())
      result.package = string_of(answer.blobs.front());
    return result;
  }

  /// From C++ it is used ahead of time.
  BackendSource source() const override {
    return {{"filesystem", "torch/csrc/inductor/aoti_package/model_package_loader.h"},
            R"(  (void)module;
  // model.pt2 is this program as AOTInductor has compiled it; repro.py has the same failure under torch.compile.
  const auto package = std::filesystem::path(__FILE__).parent_path() / "model.pt2";
  torch::inductor::AOTIModelPackageLoader compiled(package.string());
  auto call = [&compiled](const std::vector<c10::IValue>& inputs) -> c10::IValue {
    std::vector<at::Tensor> tensors;
    for (const auto& input : inputs)
      tensors.push_back(input.toTensor());
    const std::vector<at::Tensor> results = compiled.run(tensors);
    return results.size() == 1 ? c10::IValue(results[0]) : c10::IValue(results);
  };
)"};
  }

  BackendParts parts() const override {
    BackendParts parts = WorkerBackend::parts();
    parts.bisector = this;
    parts.library_settings = this;
    return parts;
  }
};

} // namespace

std::unique_ptr<Backend> make_inductor_backend(const BackendOptions &options) {
  return std::make_unique<InductorBackend>(options);
}

} // namespace repro_minify
