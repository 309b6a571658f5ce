// Roles: an argument of forward says all about itself in one line, where a parameter, a buffer or a constant of the
// graph needs a module that owns it.
#include "reduce/passes/in_bulk.h"

namespace repro_minify {
namespace {

std::optional<Program> as_arguments(const Program &program, const std::vector<size_t> &which) {
  Program result = program; // the graph is shared: roles are not part of it
  for (size_t i : which)
    result.inputs[i].role = Role::Input;
  return result;
}

} // namespace

bool plain_roles(PassContext &context) {
  std::vector<size_t> owned;
  for (size_t i = 0; i < context.current.inputs.size(); ++i)
    if (context.current.inputs[i].role != Role::Input)
      owned.push_back(i);
  return accept_in_bulk(context, owned, as_arguments);
}

} // namespace repro_minify
