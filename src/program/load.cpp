#include "repro_minify/load.h"

#include "core/no_answer.h"
#include "core/text.h"
#include "program/archive_records.h"
#include "program/compute.h"
#include "program/executor.h"
#include "program/model_kind.h"
#include "program/module_edits.h"
#include "program/operator_libraries.h"
#include "program/read_inputs.h"
#include "repro_minify/run_settings.h"
#include "repro_minify/sandbox.h"

#include <c10/util/Exception.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import.h>

#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <new>
#include <sstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// Says what a file that is no TorchScript archive is instead.
void require_torchscript(const std::string &path) {
  if (const ModelKind kind = kind_of_model(path); kind != ModelKind::TorchScript)
    throw UserError(path + ": " + to_string(kind) + ", not TorchScript");
}

c10::IValue bundled_inputs(const LoadedModel &model, const Limits &limits) {
  auto module = model.module;
  c10::IValue all;
  try {
    all = compute_in_child(
        [&](Child &child) {
          child.stage("reading the bundled inputs");
          seed_cpu(0);
          return module.run_method("get_all_bundled_inputs");
        },
        limits);
  } catch (const std::exception &error) {
    throw UserError(model.path + ": its bundled inputs cannot be made: " + first_sentence(error.what()));
  }
  if (!all.isList() || all.toListRef().empty())
    throw UserError(model.path + ": its bundled inputs are empty");
  return all.toListRef()[0];
}

/// Code of the model runs while it is loaded, and may print: nothing of that belongs among this program's results.
class Silence {
public:
  Silence() : print_(torch::jit::getPrintHandler()) {
    torch::jit::setPrintHandler([](const std::string &) {});
  }
  ~Silence() { torch::jit::setPrintHandler(print_); }
  Silence(const Silence &) = delete;
  Silence &operator=(const Silence &) = delete;

private:
  struct NoWarnings : c10::WarningHandler {
    void process(const c10::Warning &) override {}
  };
  torch::jit::PrintHandler print_;
  NoWarnings no_warnings_;
  c10::WarningUtils::WarningHandlerGuard guard_{&no_warnings_};
};

template <typename Load> torch::jit::Module with_dtype_view(const Load &load) {
  try {
    return load();
  } catch (const std::exception &error) {
    if (unknown_operator_in(error.what()) != dtype_view_name)
      throw;
  }
  register_dtype_view();
  return load();
}

/// `bytes`: the archive, where it is not that of the file.
torch::jit::Module parsed_archive(const std::string &path, const std::string &bytes) {
  std::istringstream archive(bytes);
  return bytes.empty() ? torch::jit::load(path, c10::kCPU) : torch::jit::load(archive, c10::kCPU);
}

torch::jit::Module load_archive(const std::string &path, const std::string &bytes, uint64_t seed, c10::Device device) {
  try {
    seed_cpu(seed);
    register_python_calls();
    torch::jit::Module module = with_dtype_view([&] { return parsed_archive(path, bytes); });
    redirect_device_constants(module, device);
    return module;
  } catch (const std::bad_alloc &) {
    throw; // the sandbox knows whether its limit was hit
  } catch (const std::exception &error) {
    if (is_out_of_memory(error.what()))
      throw std::bad_alloc();
    if (const std::string name = forbidden_operator_in(error.what()); !name.empty())
      throw UserError(path + ": calls " + name +
                      ", which reaches out of the model (into files, or to other processes); "
                      "nothing of it has been run, and it is not taken");
    if (const std::string name = unknown_operator_in(error.what()); !name.empty() && name.rfind("aten::", 0) != 0)
      throw UserError(path + ": calls " + name +
                      ", an operator that PyTorch does not have: where a shared library registers it, name that with "
                      "--load-library FILE.so; one that is registered from Python cannot be called here");
    throw UserError(path + ": cannot be loaded: " + first_sentence(error.what()));
  }
}

/// The state of a file, which changes when the file is written to.
using FileState = std::array<int64_t, 5>;

FileState state_of(const std::string &path) {
  struct stat status {};
  stat(path.c_str(), &status);
  return {static_cast<int64_t>(status.st_ino), status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
          static_cast<int64_t>(status.st_dev)};
}

/// True if there is a file of other content. It may be anything, a pipe without a writer, a terabyte: it is read only
/// where it has to be.
bool is_another_file(const std::string &path, const std::string &content) {
  std::error_code error;
  if (!fs::exists(path, error))
    return false;
  return !fs::is_regular_file(path, error) || fs::file_size(path, error) != content.size() || bytes_of(path) != content;
}

void require_no_code_runs(const LoadedModel &model) {
  if (has_state_functions(model.module))
    throw UserError(model.path + ": its code makes objects while it is loaded, and cannot be kept from it; save it "
                                 "without __setstate__");
}

void require_method(const LoadedModel &model) {
  if (model.module.find_method(model.method))
    return;
  const std::string names = joined(model.module.get_methods(), ", ", [](const auto &known) { return known.name(); });
  throw UserError("--method " + model.method + ": the model has no such method; it has " +
                  (names.empty() ? "none" : names));
}

void require_values(const LoadedModel &model) {
  const auto require = [&](const char *kind, const std::string &name, const at::Tensor &tensor) {
    if (tensor.defined() && tensor.is_meta())
      throw UserError(model.path + ": its " + kind + " " + name +
                      " is on the meta device, where tensors hold no values; save the model once they are loaded");
  };
  for (const auto &one : model.module.named_parameters())
    require("parameter", one.name, one.value);
  for (const auto &one : model.module.named_buffers())
    require("buffer", one.name, one.value);
}

} // namespace

LoadedModel load_model(const std::string &path, const std::string &method, uint64_t seed, bool train,
                       c10::Device device, const Limits &limits) {
  require_file(path);
  let_children_read(path);
  forget_forbidden_operators();
  const auto load = [&](const std::string &bytes) {
    LoadedModel model{path, load_archive(path, bytes, seed, device), method};
    require_method(model);
    require_values(model);
    return model;
  };
  const FileState before = state_of(path);
  Limits whole = limits; // what comes back may be as large as the model
  whole.reply_capacity = generous_limits().reply_capacity;
  const std::string bytes = read_in_sandbox(
      path, "loading it",
      [&](Child &child) {
        child.stage("reading its records");
        require_torchscript(path);
        require_sound_records(path);
        inputs_inside(path);
        child.stage("loading it");
        const torch::jit::Module module = load("").module;
        return has_state_functions(module) ? archive_without_state_functions(module) : std::string();
      },
      whole);
  if (!bytes.empty())
    try_in_sandbox(
        path, "loading it without its __setstate__", [&](Child &) { require_no_code_runs(load(bytes)); }, limits);
  if (state_of(path) != before)
    throw UserError(path + ": was changed while it was read; try again once it stays as it is");
  // Once more, here, where nothing of the model runs; what LibTorch has to say of it has been said to the child.
  const Silence silence;
  LoadedModel model = load(bytes);
  if (!train)
    model.module.eval();
  return model;
}

LoadedInputs load_inputs(const LoadedModel &model, const InputSource &source, const Limits &limits) {
  const auto &schema = model.module.get_method(model.method).function().getSchema();
  const auto from = [&](const c10::IValue &saved, const std::string &origin) {
    return LoadedInputs{.values = as_arguments(schema, saved, origin), .origin = origin};
  };
  const auto read = [&](const std::string &path) {
    let_children_read(path);
    try_in_sandbox(
        path, "reading it", [&](Child &) { read_inputs(path); }, limits);
    return read_inputs(path);
  };
  if (!source.specs.empty() && source.inputs_path)
    throw UserError("--input and --inputs: give one of them");
  if (!source.specs.empty())
    return from(inputs_from_specs(source.specs, source.seed, source.requires_grad), "--input");
  if (source.inputs_path)
    return from(read(*source.inputs_path), *source.inputs_path);
  if (model.method == "forward" && model.module.find_method("get_all_bundled_inputs"))
    return from(bundled_inputs(model, limits), "bundled inputs");
  const fs::path folder = fs::path(model.path).parent_path();
  const std::string beside = (folder / "inputs.pt").string();
  if (const auto inside = inputs_inside(model.path)) {
    try_in_sandbox(
        model.path, "reading its inputs", [&](Child &) { read_inputs(*inside, model.path); }, limits);
    LoadedInputs inputs = from(read_inputs(*inside, model.path), model.path + ", which holds its inputs");
    const bool has_file_of_its_own = fs::exists(folder / (fs::path(model.path).stem().string() + "_inputs.pt"));
    if (!has_file_of_its_own && is_another_file(beside, *inside))
      inputs.note = beside + " is not what " + model.path + " was written with, and not read; give --inputs to read it";
    return inputs;
  }
  if (fs::exists(beside))
    return from(read(beside), beside);
  if (schema.arguments().size() == 1)
    return {{}, "none needed"};
  throw UserError(model.path + ": no inputs for " + model.method + argument_list(schema) +
                  "; give --inputs FILE or one --input SPEC for each argument (as in --input 'f32[2,3,32,32]')");
}

} // namespace repro_minify
