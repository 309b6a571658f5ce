#include "repro/code.h"

#include "core/text.h"
#include "program/python_call.h"
#include "program/values.h"
#include "repro/shown_value.h"
#include "repro/torchscript_source.h"

#include <dtl/dtl.hpp>
#include <torch/csrc/jit/serialization/python_print.h>

namespace repro_minify {
namespace {

using torch::jit::SourceRange;

/// A copy in which each node of the top level comes from a line of its own of a text that does not exist: the printer
/// says where in the source it has put what comes from which line.
Program with_marks(const Program &program) {
  Program marked = program;
  marked.graph = program.graph->copy();
  const auto nodes = std::distance(marked.graph->nodes().begin(), marked.graph->nodes().end());
  const auto lines = std::make_shared<torch::jit::Source>(std::string(static_cast<size_t>(nodes) + 1, '\n'));
  size_t number = 0;
  for (auto *node : marked.graph->nodes()) {
    node->setSourceRange(SourceRange(lines, number, number + 1));
    ++number;
  }
  return marked;
}

std::vector<std::string> values_of(const Program &program) {
  std::vector<std::string> names;
  for (const auto *node : program.graph->nodes())
    names.push_back(node->outputs().empty() ? "" : "%" + node->output(0)->debugName());
  return names;
}

/// The pieces as the printer made them, before what torchscript_source() does to numbers.
std::vector<CodePiece> printed_pieces(const Program &program) {
  const auto names = values_of(program);
  const Instance instance =
      instantiate(constants_as_buffers(with_marks(program)), {.requires_grad = true, .clone_values = false});
  std::vector<c10::IValue> constants;
  torch::jit::PrintDepsTable dependencies;
  torch::jit::PythonPrint printer(constants, dependencies, nullptr, /*enforce_importable=*/true);
  print_methods(printer, instance.module);
  const std::string text = printer.str();
  std::vector<CodePiece> pieces;
  size_t at = 0;
  std::string value;
  const auto add = [&](size_t end) {
    if (end > at)
      pieces.push_back({text.substr(at, end - at), value});
    at = std::max(at, end);
  };
  for (const auto &tag : printer.ranges()) {
    add(std::min(tag.bytes, text.size()));
    const bool is_mark = tag.range.source() && tag.range.end() == tag.range.start() + 1;
    value = is_mark && tag.range.start() < names.size() ? names[tag.range.start()] : "";
  }
  add(text.size());
  return pieces;
}

std::vector<CodePiece> with_neighbours_merged(const std::vector<CodePiece> &pieces) {
  std::vector<CodePiece> result;
  for (const auto &piece : pieces)
    if (!result.empty() && result.back().value == piece.value)
      result.back().text += piece.text;
    else
      result.push_back(piece);
  return result;
}

/// Small values in full: a passing program may differ from the failing one in nothing else.
std::string value_text(const c10::IValue &value) {
  const std::string text = value.isTensor() ? elements_text(value.toTensor()) : "";
  return text.empty() ? "" : " = " + text;
}

std::vector<std::string> lines_of(const Program &program) {
  std::string all;
  for (const auto &piece : code_pieces(program))
    all += piece.text;
  std::vector<std::string> lines;
  for (const std::string &line : split_lines(all))
    if (!line.empty())
      lines.push_back(line);
  for (const auto &input : program.inputs)
    lines.push_back(std::string(to_string(input.role)) + " " + input.name + ": " + describe(input.value) +
                    value_text(input.value));
  return lines;
}

} // namespace

std::vector<CodePiece> code_pieces(const Program &program) {
  if (calls_python(*program.graph))
    return fx_pieces(program);
  std::string source;
  try {
    source = torchscript_source(program);
    std::vector<CodePiece> pieces = with_neighbours_merged(printed_pieces(program));
    std::string text;
    for (auto &piece : pieces)
      text += piece.text = spelled_for_define(piece.text);
    if (text == source)
      return pieces;
  } catch (const std::exception &) { // it has no source, or none that can be told apart
    if (source.empty())
      source = program.graph->toString(false);
  }
  return {{source, ""}};
}

json difference_json(const Program &failing, const Program &passing) {
  dtl::Diff<std::string> difference(lines_of(failing), lines_of(passing));
  difference.compose();
  json rows = json::array();
  for (const auto &[line, about] : difference.getSes().getSequence()) {
    const bool is_failing = about.type == dtl::SES_DELETE, is_passing = about.type == dtl::SES_ADD;
    rows.push_back({{"where", is_failing   ? "failing"
                              : is_passing ? "passing"
                                           : "both"},
                    {"sign", is_failing   ? "\u2212"
                             : is_passing ? "+"
                                          : " "},
                    {"text", line}});
  }
  return rows;
}

} // namespace repro_minify
