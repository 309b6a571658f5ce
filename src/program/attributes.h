// Turns a model's attributes into values of the graph.
#pragma once
#include "program/materialise.h"
#include "repro_minify/program.h"

#include <ATen/core/ivalue.h>

namespace repro_minify {

/// Replaces reads of attributes by graph inputs (tensors) and constants, and assignments by values, which prim::If and
/// prim::Loop hand on; objects that are made while the model runs become what is assigned to them. `self` is the
/// graph's value for `object`. Throws CannotFlatten.
void resolve_attributes(Program &program, InputBuilder &builder, torch::jit::Value *self,
                        const c10::intrusive_ptr<c10::ivalue::Object> &object);

} // namespace repro_minify
