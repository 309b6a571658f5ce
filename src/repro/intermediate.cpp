#include "repro/intermediate.h"

#include "core/text.h"
#include "program/atoms.h"
#include "program/flat_graph.h"
#include "program/python_call.h"
#include "repro/code.h"

#include <filesystem>
#include <regex>
#include <unordered_map>

namespace repro_minify {
namespace {

/// A copy of the graph without outputs, and where the original's values are in it.
struct Copied {
  Program program;
  std::unordered_map<const Value *, Value *> values;
};

void match_values(Block *from, Block *to, Copied &copied) {
  auto other = to->nodes().begin();
  for (Node *node : from->nodes()) {
    for (size_t i = 0; i < node->outputs().size(); ++i)
      copied.values[node->output(i)] = other->output(i);
    ++other;
  }
}

Copied copy_without_outputs(const Program &program) {
  Copied copied{program, {}};
  copied.program.graph = program.graph->copy();
  match_values(program.graph->block(), copied.program.graph->block(), copied);
  copied.program.graph->block()->removeAllOutputs();
  return copied;
}

/// The value as it is right after the node that makes it.
Value *as_made(Graph &graph, Value *value, bool is_written_later) {
  if (!is_written_later)
    return value;
  torch::jit::WithInsertPoint guard(value->node()->next());
  return graph.insert(torch::jit::aten::clone, {value});
}

/// "model.py:12: forward" of the Python frames that a trace keeps for each operator, a line each and the innermost
/// first ("/home/me/model.py(12): forward"): the first that is neither PyTorch's own nor of the package that traces.
/// Nothing where `source` is no such list. It is empty where no frame is the author's.
std::optional<std::string> frame_of_the_author(const std::string &source) {
  static const std::regex frame(R"(^(.+)\((\d+)\): (.*)$)"), not_the_authors(R"(-packages/torch/|/repro_minify/|^<)");
  bool is_a_list = false;
  for (const std::string &line : split_lines(source)) {
    std::smatch parts;
    if (!std::regex_match(line, parts, frame))
      break;
    is_a_list = true;
    if (const std::string path = parts[1]; !std::regex_search(path, not_the_authors))
      return std::filesystem::path(path).filename().string() + ":" + parts[2].str() + ": " + parts[3].str();
  }
  return is_a_list ? std::optional<std::string>("") : std::nullopt;
}

} // namespace

std::vector<Intermediate> intermediates(const Recording &recording) {
  std::vector<Intermediate> result;
  for (const Node *node : recording.program.graph->nodes()) {
    if (node->kind() == prim::Constant)
      continue;
    for (const Value *output : node->outputs()) {
      const auto &writers = recording.writers[recording.value_index.at(output)];
      if (output->type()->isSubtypeOf(*c10::TensorType::get()))
        result.push_back({output, recording.node_index.at(node), !writers.empty()});
    }
  }
  return result;
}

Program expose_all(const Recording &recording, const std::vector<Intermediate> &values) {
  Copied copied = copy_without_outputs(recording.program);
  Graph &graph = *copied.program.graph;
  for (const auto &intermediate : values)
    graph.registerOutput(as_made(graph, copied.values.at(intermediate.value), intermediate.is_written_later));
  drop_unused(copied.program);
  return copied.program;
}

Program prefix(const Recording &recording, const Intermediate &last) {
  Copied copied = copy_without_outputs(recording.program);
  Graph &graph = *copied.program.graph;
  Node *end = copied.values.at(last.value)->node();
  graph.registerOutput(copied.values.at(last.value));
  while (*graph.nodes().rbegin() != end)
    graph.nodes().rbegin()->destroy();
  drop_unused(copied.program);
  return copied.program;
}

std::string source_line(const Node *node) {
  if (is_python_call(node))
    return fx_line(node);
  auto range = node->sourceRange();
  // The archive's own code, or, where it was saved with debug records, what the author wrote.
  if (const auto original = range.findSourceRangeThatGenerated())
    range = *original;
  const auto place = range.file_line_col();
  if (!place || !range.source()) // LibTorch gives unpacking none
    return is_unpacking(node) ? source_line(node->input()->node()) : "";
  if (const auto frame = frame_of_the_author(range.source()->text_str().str()))
    return *frame;
  const auto &[file, line, column] = *place;
  std::string text(range.source()->get_line(range.source()->lineno_for_offset(range.start())).str());
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return std::filesystem::path(file).filename().string() + ":" + std::to_string(line) + ": " + text;
}

} // namespace repro_minify
