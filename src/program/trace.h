// The straight line of operators that one eager run of a model goes through, whatever the model is written with:
// objects, lists of them, tasks, recursion.
#pragma once
#include "repro_minify/load.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"
#include "repro_minify/sandbox.h"

#include <vector>

namespace repro_minify {

/// Runs the model in a sandbox child and follows tensors by their identity: what handles objects, calls and tasks is
/// carried out, every other node becomes one of the Program. What depends on an object but is no tensor (the length of
/// a list of objects) becomes a constant. Throws CannotFlatten.
Program trace_run(const LoadedModel &model, const std::vector<c10::IValue> &arguments, const RunSettings &settings,
                  const Limits &limits);

struct FlatModel {
  Program program;
  bool traced = false;
};

/// flatten_calls(); where that cannot, trace_run(). Throws CannotFlatten where neither can.
FlatModel flatten_or_trace(const LoadedModel &model, const std::vector<c10::IValue> &arguments,
                           const RunSettings &settings, const Limits &limits);

} // namespace repro_minify
