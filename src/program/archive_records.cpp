#include "program/archive_records.h"

#include "program/cpu_arguments.h"
#include "program/flat_graph.h"
#include "program/module_edits.h"
#include "program/pickle.h"
#include "program/saved_values.h"
#include "program/shared_pages.h"
#include "program/values.h"
#include "repro_minify/archive.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import.h>

#include <set>
#include <sstream>

namespace repro_minify {
namespace {

using Zip = caffe2::serialize::PyTorchStreamReader;
using pickle::CannotRead;

/// Far more than models have: LibTorch goes down into values, and later into types, by recursion.
constexpr size_t deepest_values = 500;
constexpr uint64_t most_code = uint64_t{256} << 20;

/// The bytes of a storage that the pickle declares, at most as many as there are.
uint64_t declared_bytes(Zip &zip, const std::string &folder, const pickle::Value &persistent) {
  const auto id = pickle::storage_id(persistent);
  const auto &parts = persistent.argument->items;
  const auto count = parts[4]->is(pickle::Value::Kind::Int) ? parts[4]->integer : -1;
  uint64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(static_cast<uint64_t>(count), id.element_size, &bytes))
    throw CannotRead("has a storage of an impossible size");
  if (bytes == 0 || id.location == "meta")
    return bytes;
  const std::string record = folder + std::string(id.key);
  if (!zip.hasRecord(record))
    throw CannotRead("lacks the data of a tensor (" + record.substr(0, 60) + ")");
  const uint64_t there = zip.getRecordSize(record);
  if (bytes > there)
    throw CannotRead("says that " + record.substr(0, 60) + " holds " + std::to_string(bytes) + " bytes, and it holds " +
                     std::to_string(there));
  return bytes;
}

void require_inside(Zip &zip, const std::string &folder, const pickle::Value &tensor) {
  const auto &arguments = tensor.argument->items;
  if (arguments.empty() || !arguments[0]->is(pickle::Value::Kind::Persistent))
    throw CannotRead("holds a tensor without data");
  const uint64_t bytes = declared_bytes(zip, folder, *arguments[0]);
  const uint64_t element = pickle::storage_id(*arguments[0]).element_size;
  if (static_cast<uint64_t>(elements_needed(tensor)) > bytes / element)
    throw CannotRead("holds a tensor that reaches beyond its data");
}

bool is_tensor_with_data(const pickle::Value &value) {
  const std::string name = value.is(pickle::Value::Kind::Object) ? value.name() : "";
  return name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor" ||
         name == "torch._utils._rebuild_tensor_v3" || name == "torch._utils._rebuild_qtensor";
}

void check_values(Zip &zip, const std::string &name) {
  if (!zip.hasRecord(name + ".pkl"))
    return;
  const auto [data, size] = zip.getRecord(name + ".pkl");
  const pickle::Document document = pickle::read({static_cast<const char *>(data.get()), size});
  if (pickle::is_deeper_than(document, deepest_values))
    throw CannotRead("holds values that are nested more than " + std::to_string(deepest_values) + " deep");
  const std::string folder = name + "/";
  for (const auto &value : document.values)
    if (is_tensor_with_data(value))
      require_inside(zip, folder, value);
    else if (value.is(pickle::Value::Kind::Persistent))
      declared_bytes(zip, folder, value);
}

void check_code(Zip &zip) {
  uint64_t bytes = 0;
  for (const auto &name : zip.getAllRecords())
    if (name.starts_with("code/"))
      bytes += zip.getRecordSize(name);
  if (bytes > most_code)
    throw CannotRead("has " + std::to_string(bytes >> 20) + " MiB of code, more than the " +
                     std::to_string(most_code >> 20) + " that are read");
}

constexpr const char *state_functions[] = {"__getstate__", "__setstate__"};

/// LibTorch's own classes (packed weights) have functions of these names too: in C++, the same each time.
bool has_in_its_code(const c10::ClassType &type, const char *name) {
  const torch::jit::Function *function = type.findMethod(name);
  return function && function->isGraphFunction();
}

/// The classes of TorchScript of all objects in the model, in whatever lists and dicts they are kept.
std::set<c10::ClassTypePtr> classes_of(const torch::jit::Module &module) {
  std::set<c10::ClassTypePtr> classes;
  std::set<const void *> seen;
  c10::IValue(module._ivalue()).visit([&](const c10::IValue &value) {
    if (!value.isObject())
      return false;
    classes.insert(value.toObjectRef().type());
    return !seen.insert(value.toObject().get()).second; // what was met before is not entered again
  });
  return classes;
}

Instance as_wanted(torch::jit::Module module, const std::vector<c10::IValue> &arguments, bool train,
                   const InstantiateOptions &options) {
  Instance instance{std::move(module), {}};
  redirect_device_constants(instance.module, options.device);
  write_out_casts(instance.module);
  if (!train)
    instance.module.eval();
  for (auto parameter : instance.module.parameters())
    parameter.set_requires_grad(options.requires_grad && parameter.requires_grad());
  if (options.double_precision)
    widen_module(instance.module, std::none_of(arguments.begin(), arguments.end(), is_double));
  if (!options.device.is_cpu())
    move_module(instance.module, options.device);
  ArgumentCloner cloner(
      {.requires_grad = options.requires_grad, .double_precision = options.double_precision, .device = options.device},
      instance.module);
  for (size_t i = 0; i < arguments.size(); ++i)
    instance.arguments.push_back(cloner.clone(i, arguments[i]));
  return instance;
}

} // namespace

void require_sound_records(const std::string &path) {
  try {
    Zip zip(path);
    check_code(zip);
    check_values(zip, "constants");
    check_values(zip, "data");
  } catch (const CannotRead &problem) {
    throw UserError(path + ": " + problem.what());
  }
}

bool has_state_functions(const torch::jit::Module &module) {
  for (const auto &type : classes_of(module))
    if (has_in_its_code(*type, "__setstate__"))
      return true;
  return false;
}

std::string archive_without_state_functions(const torch::jit::Module &module) {
  for (const auto &type : classes_of(module))
    for (const char *name : state_functions)
      if (has_in_its_code(*type, name))
        type->unsafeRemoveMethod(name);
  std::ostringstream archive;
  module.save(archive);
  return archive.str();
}

Instance instantiate(const Archive &archive, const InstantiateOptions &options) {
  seed_cpu(archive.seed);
  torch::jit::Module module = torch::jit::load(archive.path, c10::kCPU);
  if (archive.loaded)
    share_pages_with(module, *archive.loaded);
  return as_wanted(with_method_as_forward(module, archive.method), archive.arguments, archive.train, options);
}

Instance instantiate_reloaded(const Program &program, const InstantiateOptions &options) {
  return instantiate_bytes(to_bytes(program), options);
}

std::string to_bytes(const Program &program) {
  const Instance instance = instantiate(program, {.requires_grad = true, .clone_values = false});
  std::ostringstream archive;
  instance.module.save(archive);
  const auto bytes =
      pickled(c10::ivalue::Tuple::create({std::move(archive).str(), c10::ivalue::Tuple::create(instance.arguments)}));
  return {bytes.data(), bytes.size()};
}

Instance instantiate_bytes(std::string_view bytes, const InstantiateOptions &options) {
  const c10::IValue both = unpickled(bytes);
  const auto &parts = both.toTupleRef().elements();
  std::istringstream archive(parts[0].toStringRef());
  return as_wanted(torch::jit::load(archive, c10::kCPU), parts[1].toTupleRef().elements().vec(), /*train=*/false,
                   options);
}

} // namespace repro_minify
