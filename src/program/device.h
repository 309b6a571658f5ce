// A model that was saved on one device, run on another.
#pragma once
#include <c10/core/Device.h>
#include <torch/csrc/jit/api/module.h>

namespace repro_minify {

/// Device constants inside the graphs of a module, and of what it calls, and devices among the arguments of its calls
/// of torch.fx, become `device` where that is what its author would have written: every CUDA device does. A CPU device
/// does only when the whole module names no other: then it was traced on the CPU; a module that names both means what
/// it says. Moves no tensor.
void redirect_device_constants(torch::jit::Module &module, c10::Device device);

/// Moves parameters, buffers, tensor attributes and tensor constants. Touches the device.
void move_module(torch::jit::Module &module, c10::Device device);

} // namespace repro_minify
