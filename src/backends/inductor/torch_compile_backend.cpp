// Any backend that Dynamo knows, as torch.compile(model, backend=NAME) uses it.
#include "backends/backend_registry.h"
#include "backends/in_python.h"
#include "backends/inductor/worker_backend.h"
#include "core/files.h"
#include "core/programs.h"
#include "repro_minify/program.h"

#include <fstream>

namespace repro_minify {
namespace {

/// Returns NAME as it is, and FILE.py:FUNCTION with the full path of the file, as the worker runs in another folder.
std::string found_anywhere(const std::string &name) {
  const auto [module, function] = module_and_function(name);
  return module.empty() ? name : importable(module) + ":" + function;
}

class TorchCompileBackend : public WorkerBackend {
public:
  TorchCompileBackend(const std::string &name, const BackendOptions &options)
      : WorkerBackend("torch-compile:" + name, options,
                      with_backend_options({"frontend=dynamo", "backend=" + found_anywhere(name)}, options)),
        name_(name) {}

  std::string summary() const override { return torch_compile_row().summary; }
  std::string title() const override {
    const auto [module, function] = module_and_function(name_);
    return "torch.compile(backend=" + (module.empty() ? "\"" + name_ + "\"" : function) + ")";
  }
  std::string needs() const override { return "Python with torch, and that backend"; }

private:
  std::string name_;
};

} // namespace

NamedRow torch_compile_row() {
  return {"torch-compile:NAME", "a backend of torch.compile by its name, or MODULE:FUNCTION of your own"};
}

std::vector<std::string> dynamo_backends(const std::string &given) {
  const std::string python = find_python_with_torch(given);
  if (python.empty())
    return {};
  const TemporaryFolder folder;
  const std::string answer = folder / "names";
  // PyTorch registers some before the package that each needs is there.
  const std::string script = "import importlib.util, sys, torch._dynamo\n"
                             "needs = {'tvm': 'tvm', 'openxla': 'torch_xla', 'openxla_eval': 'torch_xla'}\n"
                             "names = [name for name in torch._dynamo.list_backends(exclude_tags=())\n"
                             "         if name not in needs or importlib.util.find_spec(needs[name])]\n"
                             "open(sys.argv[1], 'w').write('\\n'.join(names))";
  wait_for_program(start_program({.words = {python, "-c", script, answer}, .output = "/dev/null", .own_group = true}));
  std::vector<std::string> names;
  std::ifstream file(answer);
  for (std::string name; std::getline(file, name);)
    names.push_back(name);
  return names;
}

std::unique_ptr<Backend> make_torch_compile_backend(const std::string &name, const BackendOptions &options) {
  if (name.empty())
    throw UserError("--backend torch-compile: names no backend; `repro-minify backends` lists those that this Python "
                    "has");
  return std::make_unique<TorchCompileBackend>(name, options);
}

} // namespace repro_minify
