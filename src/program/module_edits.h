// A module changed as a whole: moved to a device, widened to float64, given another method as its forward.
#pragma once
#include "program/graph.h"

#include <c10/core/Device.h>
#include <torch/csrc/jit/api/module.h>

#include <string>

namespace repro_minify {

// A model that was saved on one device, run on another.

/// Device constants inside the graphs of a module, and of what it calls, and devices among the arguments of its calls
/// of torch.fx, become `device` where that is what its author would have written: every CUDA device does. A CPU device
/// does only when the whole module names no other: then it was traced on the CPU; a module that names both means what
/// it says. Moves no tensor.
void redirect_device_constants(torch::jit::Module &module, c10::Device device);

/// Moves parameters, buffers and tensor attributes. Touches the device.
void move_attributes(const torch::jit::Module &module, c10::Device device);
/// The same, and tensor constants, which are nodes of their own then. Touches the device.
void move_module(torch::jit::Module &module, c10::Device device);

// The fp64 reference: the same program in float64 (complex128).

/// Arguments named `dtype` that are constants of a floating type become float64 (complex128 for complex ones), as
/// PyTorch's cast_dtype_args_to_fp64 does; so do floating tensor constants. Nested blocks included. `narrow_draws`:
/// random numbers are drawn by draw_in_float32(), which is wrong for a program that computes in float64 itself.
void widen_graph(Block *block, bool narrow_draws);
/// True if the value is or holds a tensor of float64 or complex128.
bool is_double(const c10::IValue &value);

/// True for an operator that draws other numbers in float64 than in float32, such as aten::rand_like.
bool draws_otherwise_in_float64(const Node *node);
/// Has such an operator draw in float32, which most programs compute in, and widens what it gives: with numbers of its
/// own the reference would be as far from eager as from any result, and let a wrong one pass.
void draw_in_float32(Node *node);

/// Every parameter, buffer and tensor attribute, and every graph of the module and of what it calls.
void widen_module(torch::jit::Module &module, bool narrow_draws);

// Backends compile forward. A method of another name that cannot be flattened gets a module around it.

/// A module whose forward calls that method of `model`; `model` itself where that is forward.
torch::jit::Module with_method_as_forward(const torch::jit::Module &model, const std::string &method);

} // namespace repro_minify
