#include "program/state_functions.h"

#include <set>
#include <sstream>

namespace repro_minify {
namespace {

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

} // namespace

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

} // namespace repro_minify
