// Roles: an argument of forward says all about itself in one line, where a parameter, a buffer or a constant of the
// graph needs a module that owns it.
#include "reduce/passes/pass.h"

namespace repro_minify {
namespace {

Program as_arguments(const Program &program, const std::vector<size_t> &which) {
  Program result = program; // the graph is shared: roles are not part of it
  for (size_t i : which)
    result.inputs[i].role = Role::Input;
  return result;
}

} // namespace

void plain_roles(PassContext &context) {
  const auto owned = inputs_where(context.current, [](const ProgramInput &input) { return input.role != Role::Input; });
  if (owned.size() > 1 && context.try_candidate(as_arguments(context.current, owned)))
    return;
  for (size_t i : owned)
    context.try_candidate(as_arguments(context.current, {i}));
}

} // namespace repro_minify
