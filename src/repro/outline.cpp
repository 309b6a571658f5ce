// The rows of a picture of values: a program as eager ran it, before anything is compared.
#include "program/python_call.h"
#include "program/values.h"
#include "repro/intermediate.h"
#include "repro_minify/analysis.h"

#include <algorithm>

namespace repro_minify {
namespace {

void describe_inputs(const Program &program, Analysis &analysis) {
  for (const auto &input : program.inputs)
    analysis.inputs.push_back({input.name, describe(input.value), input.role});
}

void describe_rows(const Recording &recording, const std::vector<Intermediate> &values, Analysis &analysis) {
  const auto reads = reads_of(recording, values);
  const auto outputs = recording.program.graph->outputs();
  for (size_t i = 0; i < values.size(); ++i) {
    AnalysisRow row;
    const torch::jit::Node *node = recording.nodes[values[i].node];
    row.value = "%" + values[i].value->debugName();
    row.op = operator_name(node);
    row.source = source_line(node);
    if (const auto *seen = recording.lookup(values[i].value, no_writer))
      row.type = describe(*seen);
    row.reads = reads[i].values;
    row.reads_written = reads[i].written;
    row.inputs = reads[i].inputs;
    row.is_output = std::find(outputs.begin(), outputs.end(), values[i].value) != outputs.end();
    analysis.rows.push_back(std::move(row));
  }
}

} // namespace

Analysis outline(const Recording &recording) {
  Analysis analysis;
  analysis.is_compared = false;
  describe_inputs(recording.program, analysis);
  describe_rows(recording, intermediates(recording), analysis);
  return analysis;
}

} // namespace repro_minify
