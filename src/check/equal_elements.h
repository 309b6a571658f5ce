// Which index of a maximum is right where several elements are equal? Any. Internal to src/check.
#pragma once
#include "check/compare_runs.h"
#include "program/values.h"

#include <chrono>

namespace repro_minify {

/// Calls `move` for each tensor that a run is given: parameters, buffers, arguments.
template <typename Move> void for_each_given(Instance &instance, const Move &move) {
  for (const at::Tensor &tensor : instance.module.parameters())
    move(tensor);
  for (const at::Tensor &tensor : instance.module.buffers())
    move(tensor);
  for (const c10::IValue &argument : instance.arguments)
    for_each_tensor(argument, move);
}

/// Runs both sides of a check once more, over floating-point inputs whose elements are moved apart by a few units in
/// the last place of the largest. Returns true if the whole numbers, which failed before, are the same then: such a
/// failure hangs on elements that are equal (an index of a maximum), or on exact values (a step of `floor`). False
/// where `verdict` shows another failure, or no input has floating-point numbers. `took`: the time that eager ran for.
/// `child` is told which side runs, which is the one to blame if the process ends there. Throws NoAnswer.
bool hangs_on_equal_elements(const CheckContext &context, const Verdict &verdict, std::chrono::duration<double> took,
                             Child &child);

} // namespace repro_minify
