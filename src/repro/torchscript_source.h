// A Program as TorchScript source that torch::jit::Module::define takes.
#pragma once
#include "repro_minify/program.h"

#include <string>

namespace torch::jit {
struct PythonPrint;
}

namespace repro_minify {

/// "def forward(self, x: Tensor) -> Tensor: ...". Tensor constants are read as attributes of self (named like their
/// inputs).
std::string torchscript_source(const Program &program);

/// Returns the printer's source in words that define() knows, with the shortest texts of its numbers.
std::string spelled_for_define(std::string source);

/// True if define() takes the source and gives the same operators in the same order. Compiles in a sandbox child:
/// TorchScript's compiler runs what is constant, and a program that crashes there crashes only the child.
bool source_is_faithful(const Program &program, const std::string &source);

/// Prints what forward calls, and forward last.
void print_methods(torch::jit::PythonPrint &printer, const torch::jit::Module &module);

/// The Program with tensor constants as buffers.
Program constants_as_buffers(const Program &program);

} // namespace repro_minify
