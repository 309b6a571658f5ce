// inductor-like: what TorchInductor does, natively: functionalise, decompose, fuse, generate C++, compile. What it does
// not cover runs as ATen.
#include "backends/backend_registry.h"
#include "backends/inductor_like/capture.h"
#include "backends/inductor_like/kernel_library.h"
#include "backends/inductor_like/plan.h"
#include "backends/inductor_like/stages.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "core/text.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"
#include "tasks/compiler.h"
#include "tasks/sandbox.h"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <filesystem>

namespace repro_minify {
namespace {

using namespace inductor_like;

/// True if the kernels of a repro compile, or if the compiler cannot do its work for now: the kernels are not to blame,
/// and the user who builds the repro will see.
bool compiles(const Plan &plan) {
  for (int again = 0;; ++again) {
    try {
      build(plan);
      return true;
    } catch (const NoAnswer &) {
      if (again == most_asked_again)
        return true;
      pause_before_asking_again(again);
    } catch (const std::exception &) {
      return false;
    }
  }
}

/// One module, compiled when it is called first, and again when its arguments look different.
class Callable {
public:
  Callable(jit::Module module, BackendOptions options, std::shared_ptr<Coverage> coverage)
      : module_(std::move(module)), options_(std::move(options)), coverage_(std::move(coverage)) {}

  c10::IValue operator()(std::vector<c10::IValue> arguments) {
    if (needs_gradients(arguments)) {
      *coverage_ = all_as_aten(module_, "kernels have no backward");
      return module_.forward(std::move(arguments));
    }
    if (!known(arguments))
      compile(arguments);
    if (!program_)
      return module_.forward(std::move(arguments));
    return run_program(arguments);
  }

private:
  /// Kernels have no backward: with gradients everything runs as ATen.
  bool needs_gradients(const std::vector<c10::IValue> &arguments) const {
    if (!at::GradMode::is_enabled())
      return false;
    const auto requires_grad = [](const c10::IValue &value) {
      return value.isTensor() && value.toTensor().requires_grad();
    };
    for (const at::Tensor &parameter : module_.parameters())
      if (parameter.requires_grad())
        return true;
    return std::any_of(arguments.begin(), arguments.end(), requires_grad);
  }

  bool known(const std::vector<c10::IValue> &arguments) const {
    if (!compiled_ || arguments.size() != seen_.size())
      return false;
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (!arguments[k].isTensor())
        return false;
      const at::Tensor &now = arguments[k].toTensor(), &then = seen_[k];
      if (now.scalar_type() != then.scalar_type() || now.sizes() != then.sizes() || now.strides() != then.strides() ||
          now.device() != then.device())
        return false;
    }
    return true;
  }

  void compile(const std::vector<c10::IValue> &arguments) {
    compiled_ = true;
    program_.reset();
    launch_ = nullptr;
    seen_.clear();
    for (const auto &argument : arguments)
      if (argument.isTensor())
        seen_.push_back(argument.toTensor().detach());
    try {
      CompiledProgram program = compile_stages(module_, arguments, options_);
      *coverage_ = coverage_of(program.plan, program.line);
      launch_ = build_kernels_of(program.plan);
      program_ = std::move(program);
    } catch (const NotCovered &problem) {
      *coverage_ = all_as_aten(module_, problem.what());
      dump_stage(options_, "generate", std::string("nothing: all runs as ATen (") + problem.what() + ")");
    }
  }

  /// Kernels that no compiler takes are our fault, unless they were spoiled on purpose.
  Launch build_kernels_of(const Plan &plan) const {
    try {
      return build(plan);
    } catch (const NoAnswer &) {
      throw; // the compiler has not seen them
    } catch (const std::exception &) {
      if (options_.inject == "relu-compile-error")
        throw;
      rethrow_as_internal("generate");
    }
  }

  c10::IValue run_program(const std::vector<c10::IValue> &arguments) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const at::NoGradGuard no_grad;
    std::vector<c10::IValue> inputs = program_->line.inputs;
    std::copy(arguments.begin(), arguments.end(), inputs.begin());
    const auto outputs = run(program_->plan, launch_, inputs);
    for (const Functional::Update &update : program_->updates)
      inputs[update.input].toTensor().copy_(outputs[update.output].toTensor());
    std::vector<at::Tensor> tensors;
    for (size_t k = 0; k < outputs.size() - program_->updates.size(); ++k)
      tensors.push_back(outputs[k].toTensor());
    return with_tensors(program_->result, tensors);
  }

  jit::Module module_;
  BackendOptions options_;
  bool compiled_ = false;
  std::vector<at::Tensor> seen_;
  std::optional<CompiledProgram> program_; ///< nothing: runs as ATen
  std::shared_ptr<Coverage> coverage_;
  Launch launch_;
};

class InductorLike : public Backend,
                     public Preparation,
                     public Surroundings,
                     public CompilationSteps,
                     public PartialCompilation,
                     public GeneratedSource {
public:
  explicit InductorLike(BackendOptions options) : options_(std::move(options)) { check_stages(); }

  std::string name() const override { return "inductor-like"; }
  std::string summary() const override {
    return "TorchInductor's way, natively: functionalised, decomposed, fused, generated as C++, compiled";
  }
  std::string title() const override { return "inductor-like (fused kernels in generated C++)"; }
  Compiled compile(jit::Module module) const override {
    *coverage_ = {};
    return [callable = std::make_shared<Callable>(std::move(module), options_, coverage_)](
               std::vector<c10::IValue> arguments) { return (*callable)(std::move(arguments)); };
  }
  Coverage coverage() const override { return *coverage_; }
  BackendSource source() const override {
    return {{}, R"(  // It has no C++ that stands on its own: run as ATen.
  auto call = [module](std::vector<c10::IValue> inputs) mutable { return module.forward(std::move(inputs)); };
)"};
  }
  BackendSource source_for(const Program &program, const RunSettings &settings) const override;
  std::vector<std::string> names() const override { return stage_names(); }
  std::unique_ptr<Backend> with(const std::vector<std::string> &steps) const override {
    BackendOptions options = options_;
    for (const auto &stage : stage_names())
      if (std::find(steps.begin(), steps.end(), stage) == steps.end())
        options.skipped_stages.push_back(stage);
    return std::make_unique<InductorLike>(std::move(options));
  }
  void start() const override { tidy_kernel_cache(); }
  std::string needs() const override { return "a C++ compiler"; }
  Confinement confinement() const override;
  Identity identity() const override {
    Identity identity;
    identity.add("the C++ compiler", compiler_version());
    return identity;
  }
  std::string unusable_because() const override {
    return find_compiler().empty() ? "no C++ compiler was found: neither $CXX nor c++, g++ or clang++" : "";
  }
  BackendTraits traits() const override { return {.runs_the_module = true, .needs_flat_graph = true}; }
  BackendParts parts() const override {
    return {.preparation = this, .surroundings = this, .steps = this, .partial = this, .generated = this};
  }

private:
  void check_stages() const {
    const auto known = [](const std::string &name) {
      return std::find(stage_names().begin(), stage_names().end(), name) != stage_names().end();
    };
    for (const auto &name : options_.skipped_stages)
      if (!known(name))
        throw UserError("--skip-stage " + name + ": unknown; known are " + joined(stage_names()) +
                        did_you_mean(name, stage_names()));
    for (const auto &name : options_.dumped_stages)
      if (!known(name) && name != "all" && name != "capture" && name != "generate")
        throw UserError("--dump-stage " + name + ": unknown; known are all, capture, " + joined(stage_names()) +
                        ", generate" + did_you_mean(name, stage_names()));
  }

  BackendOptions options_;
  /// Counts for the last program. Backends are shared, but each check runs in a process of its own.
  std::shared_ptr<Coverage> coverage_ = std::make_shared<Coverage>();
};

/// Kernels are kept from one check to the next.
Confinement InductorLike::confinement() const {
  Confinement confinement;
  try {
    confinement.writable = {kernel_cache_folder().string()};
  } catch (const NoAnswer &) { // compiling throws it again
  }
  if (!options_.dump_file.empty())
    confinement.writable.push_back(options_.dump_file);
  if (const std::string compiler = find_program(find_compiler()); !compiler.empty())
    confinement.readable = {std::filesystem::path(compiler).parent_path().parent_path().string()};
  for (const std::filesystem::path library : Nvrtc::libraries()) // each loads its neighbours
    if (library.has_parent_path())
      confinement.readable.push_back(library.parent_path().string());
  return confinement;
}

/// Compiled again for repro.cpp, where every input of the compiled program has to have a name.
BackendSource InductorLike::source_for(const Program &program, const RunSettings &settings) const {
  BackendOptions options = options_;
  options.skipped_stages.emplace_back("fold-constants");
  Program named = program;
  for (auto &input : named.inputs)
    if (input.role == Role::Constant)
      input.role = Role::Buffer;
  const RunScope scope(settings);
  const Instance instance = instantiate(named, {.device = settings.device});
  scope.begin_run();
  try {
    const CompiledProgram compiled = compile_stages(instance.module, instance.arguments, options);
    scope.end_run();
    // On CUDA they are text, which repro.cpp compiles when it runs, in any case.
    return compiled.plan.device.is_cuda() || compiles(compiled.plan)
               ? repro_source(compiled, attribute_names(instance.module))
               : uncompilable_source(compiled);
  } catch (const NotCovered &problem) {
    options_.say(Severity::Warning, std::string("repro.cpp has no kernels: ") + problem.what());
  } catch (const CannotCompile &problem) {
    options_.say(Severity::Warning, std::string("repro.cpp has no kernels: ") + problem.what());
  }
  return source();
}

} // namespace

std::unique_ptr<Backend> make_inductor_like_backend(const BackendOptions &options) {
  return std::make_unique<InductorLike>(options);
}

} // namespace repro_minify
