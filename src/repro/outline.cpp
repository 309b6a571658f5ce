// The rows of a picture of values: a program as eager ran it, before anything is compared.
#include "program/python_call.h"
#include "program/values.h"
#include "repro/intermediate.h"
#include "repro_minify/analysis.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace repro_minify {
namespace {

/// Fills in what a row is made from: walks from a node to what it reads, through what is neither an intermediate nor an
/// input.
class ReadsOf {
public:
  ReadsOf(const Recording &recording, const std::vector<Intermediate> &values) : recording_(recording) {
    for (size_t i = 0; i < values.size(); ++i)
      rows_[values[i].value] = static_cast<int>(i);
    const auto inputs = recording.program.graph->inputs();
    for (size_t i = 0; i < inputs.size(); ++i)
      inputs_[inputs[i]] = static_cast<int>(i);
  }

  void fill(const Node *node, AnalysisRow &row) {
    seen_.clear();
    found_rows_.clear();
    found_inputs_.clear();
    row_ = &row;
    reader_ = recording_.node_index.at(node);
    walk(node);
    row.reads = {found_rows_.begin(), found_rows_.end()};
    row.inputs = {found_inputs_.begin(), found_inputs_.end()};
  }

private:
  void walk(const Node *node) {
    if (!seen_.insert(node).second)
      return;
    for (const Value *input : node->inputs())
      look(input);
    for (const Block *block : node->blocks())
      for (const Node *inner : block->nodes())
        for (const Value *input : inner->inputs())
          look(input);
  }

  void look(const Value *value) {
    row_->reads_written |= recording_.writer_before(value, reader_) >= 0;
    if (const auto row = rows_.find(value); row != rows_.end())
      found_rows_.insert(row->second);
    else if (const auto input = inputs_.find(value); input != inputs_.end())
      found_inputs_.insert(input->second);
    else
      walk(value->node());
  }

  const Recording &recording_;
  int reader_ = 0;
  AnalysisRow *row_ = nullptr;
  std::unordered_map<const Value *, int> rows_, inputs_;
  std::set<const Node *> seen_;
  std::set<int> found_rows_, found_inputs_;
};

void describe_rows(const Recording &recording, const std::vector<Intermediate> &values, Analysis &analysis) {
  ReadsOf reads(recording, values);
  const auto outputs = recording.program.graph->outputs();
  for (size_t i = 0; i < values.size(); ++i) {
    AnalysisRow row;
    const Node *node = recording.nodes[values[i].node];
    row.value = "%" + values[i].value->debugName();
    row.op = operator_name(node);
    row.source = source_line(node);
    if (const auto *seen = recording.lookup(values[i].value, no_writer))
      row.type = describe(*seen);
    reads.fill(values[i].value->node(), row);
    row.is_output = std::find(outputs.begin(), outputs.end(), values[i].value) != outputs.end();
    analysis.rows.push_back(std::move(row));
  }
}

} // namespace

Analysis outline(const Recording &recording) {
  Analysis analysis;
  analysis.is_compared = false;
  for (const auto &input : recording.program.inputs)
    analysis.inputs.push_back({input.name, describe(input.value), input.role});
  describe_rows(recording, intermediates(recording), analysis);
  return analysis;
}

} // namespace repro_minify
