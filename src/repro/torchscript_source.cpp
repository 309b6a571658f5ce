#include "repro/torchscript_source.h"
#include "core/number_text.h"

#include "program/compute.h"
#include "repro_minify/record.h"

#include <torch/csrc/jit/serialization/python_print.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

namespace repro_minify {
namespace {

size_t digits_at(const std::string &text, size_t at) {
  size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9')
    ++end;
  return end - at;
}

/// How long the number is that begins there if it has ten decimals or more, with its exponent; else 0. (A loop: a
/// program may hold a text of megabytes of digits, and std::regex recurses for each.)
size_t long_number_at(const std::string &text, size_t at) {
  const size_t whole = digits_at(text, at), point = at + whole;
  if (whole == 0 || point >= text.size() || text[point] != '.')
    return 0;
  const size_t decimals = digits_at(text, point + 1);
  size_t end = point + 1 + decimals;
  if (end < text.size() && text[end] == 'e') {
    const size_t sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
    if (const size_t exponent = digits_at(text, end + 1 + sign))
      end += 1 + sign + exponent;
  }
  return decimals >= 10 ? end - at : 0;
}

/// 0.10000000000000001 is 0.1: the shortest text that reads back as the same double.
std::string shortened_numbers(const std::string &source) {
  std::string result;
  for (size_t at = 0; at < source.size();) {
    const size_t length = long_number_at(source, at);
    if (length == 0) {
      const size_t digits = std::max<size_t>(1, digits_at(source, at)); // none of them begins one either
      result += source.substr(at, digits);
      at += digits;
      continue;
    }
    result += double_literal(std::strtod(source.substr(at, length).c_str(), nullptr));
    at += length;
  }
  return result;
}

std::vector<std::string> operators_of_forward(const torch::jit::Module &module) {
  std::vector<std::string> names;
  for (const auto *node : all_nodes(*module.get_method("forward").graph()))
    if (counts_as_operator(node))
      names.emplace_back(node->kind().toQualString());
  return names;
}

/// True if define() takes the source and gives the same operators in the same order.
bool compiles_to(const Program &program, const std::string &source) {
  torch::jit::Module module("__torch__.Repro");
  for (const auto &input : program.inputs)
    if (input.role != Role::Input)
      module.register_parameter(input.name, input.value.toTensor(), input.role != Role::Parameter);
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(source);
  const Instance wanted = instantiate(constants_as_buffers(program), {.clone_values = false});
  return operators_of_forward(module) == operators_of_forward(wanted.module);
}

} // namespace

/// The printer writes for its own importer, which knows names that define() does not.
std::string spelled_for_define(std::string source) {
  static const std::regex infinity("(^|[^A-Za-z0-9_.\"'])inf\\b"), nan("(^|[^A-Za-z0-9_.\"'])nan\\b"),
      number_to_tensor("ops\\.prim\\.NumToTensor\\(");
  source = std::regex_replace(source, infinity, "$1float(\"inf\")");
  source = std::regex_replace(source, nan, "$1float(\"nan\")");
  source = std::regex_replace(source, number_to_tensor, "torch.scalar_tensor(");
  return shortened_numbers(source);
}

Program constants_as_buffers(const Program &program) {
  Program result = program;
  for (auto &input : result.inputs)
    if (input.role == Role::Constant)
      input.role = Role::Buffer;
  return result;
}

void print_methods(torch::jit::PythonPrint &printer, const torch::jit::Module &module) {
  for (const auto &method : module.get_methods())
    if (method.name() != "forward")
      printer.printMethod(method.function());
  printer.printMethod(module.get_method("forward").function());
}

std::string torchscript_source(const Program &program) {
  const Instance instance = instantiate(constants_as_buffers(program), {.requires_grad = true, .clone_values = false});
  std::vector<c10::IValue> constants;
  torch::jit::PrintDepsTable dependencies;
  torch::jit::PythonPrint printer(constants, dependencies, nullptr, /*enforce_importable=*/true);
  print_methods(printer, instance.module);
  if (!constants.empty())
    throw std::runtime_error("the program holds a constant that has no source");
  return spelled_for_define(printer.str());
}

bool source_is_faithful(const Program &program, const std::string &source) {
  Limits limits;
  limits.timeout = std::chrono::minutes(1);
  try {
    return compute_in_child([&](Child &) -> c10::IValue { return compiles_to(program, source); }, limits).toBool();
  } catch (const std::exception &) {
    return false;
  }
}

} // namespace repro_minify
