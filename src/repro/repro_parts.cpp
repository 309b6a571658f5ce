#include "repro/repro_parts.h"

#include "program/surgery.h"
#include "program/values.h"
#include "repro/torchscript_source.h"

#include <algorithm>
#include <map>

namespace repro_minify {
namespace {

constexpr size_t most_literal_bytes = size_t{64} * 1024;

/// Makes views whose memory no other input shares tensors of their own: the rest of that memory is not worth reading.
Program compacted(const Program &program) {
  std::map<void *, int> sharers;
  for (const auto &input : program.inputs)
    ++sharers[storage_of(input.value.toTensor())];
  Program result = program;
  for (auto &input : result.inputs) {
    const auto tensor = input.value.toTensor();
    if (!storage_of(tensor) || sharers[storage_of(tensor)] > 1 || !tensor.is_contiguous() || input.formula)
      continue; // a sparse one has no storage
    input.value = tensor.detach().clone().set_requires_grad(tensor.requires_grad());
  }
  return result;
}

bool reads_objects(const Program &program) {
  const auto nodes = all_nodes(*program.graph);
  return std::any_of(nodes.begin(), nodes.end(), [](const Node *node) {
    return node->kind() == prim::Constant && is_opaque_class(node->output()->type());
  });
}

} // namespace

ReproParts repro_parts(const Program &given, bool grad) {
  const Program program = compacted(given);
  ReproParts parts;
  try {
    parts.script = torchscript_source(program);
  } catch (const std::exception &) {
  }
  parts.files.module_from_file = !source_is_faithful(program, parts.script);
  // Packed weights have no source, but how they are used has one.
  if (parts.files.module_from_file && !reads_objects(program))
    parts.script.clear();
  TensorLiterals of_inputs(grad), of_attributes(grad); // each in a function of its own
  size_t bytes = 0;
  try {
    for (const auto &input : program.inputs) {
      const std::string expression = (input.role == Role::Input ? of_inputs : of_attributes).expression(input);
      bytes += expression.size();
      (input.role == Role::Input ? parts.inputs : parts.attributes).emplace_back(input.name, expression);
      parts.has_constants |= input.role == Role::Constant;
    }
  } catch (const std::exception &) {
    bytes = most_literal_bytes + 1; // a type that has no literal travels in the files
  }
  parts.attributes_share = of_attributes.shares();
  parts.inputs_share = of_inputs.shares();
  if (bytes > most_literal_bytes) {
    parts.files.inputs_from_file = true;
    parts.files.module_from_file |= has_attributes(program);
  }
  return parts;
}

} // namespace repro_minify
