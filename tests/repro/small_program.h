// A program and facts that every text of a repro can be written from.
#pragma once
#include "core/files.h"
#include "program/materialise.h"
#include "repro_minify/repro.h"

#include <ATen/ATen.h>

#include <fstream>
#include <string>

namespace repro_minify::testing_support {

/// An argument, a parameter, a buffer and a constant, of a dtype.
inline Program small_program(at::ScalarType dtype = at::kFloat) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  InputBuilder builder(program);
  torch::jit::Value *sum =
      builder.add_tensor(at::ones({2}, dtype), Role::Input, "x", Formula{.kind = Formula::Kind::Ones});
  for (const auto role : {Role::Input, Role::Parameter, Role::Buffer, Role::Constant})
    sum = program.graph->insert(torch::jit::aten::add, {sum, builder.add_tensor(at::ones({2}, dtype), role, "y")});
  program.graph->registerOutput(sum);
  return program;
}

inline ReproFacts facts_of(FailureKind kind, bool grad, bool autocast, const std::string &backend = "jit") {
  ReproFacts facts;
  facts.version = "1.0";
  facts.torch_version = "2.0";
  facts.backend = make_backend(backend);
  facts.signature = {kind, is_comparison(kind) ? "output" : "", kind == FailureKind::Crash ? "signal 11" : ""};
  facts.check.grad = grad;
  facts.check.autocast = autocast;
  return facts;
}

constexpr FailureKind all_kinds[] = {
    FailureKind::Crash, FailureKind::Hang, FailureKind::Memory,   FailureKind::Exception, FailureKind::Structure,
    FailureKind::Shape, FailureKind::Nan,  FailureKind::Gradient, FailureKind::Accuracy,  FailureKind::Dtype};

/// The result of write_repro, and the text of its repro.cpp.
struct Written {
  ReproFiles files;
  std::string source;
};

inline Written write(const Program &program, const ReproFacts &facts) {
  const TemporaryFolder folder;
  Written written{write_repro(program, facts, folder.path()), ""};
  std::ifstream file(folder / "repro.cpp");
  written.source.assign(std::istreambuf_iterator<char>(file), {});
  return written;
}

} // namespace repro_minify::testing_support
