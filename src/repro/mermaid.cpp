#include "program/python_call.h"
#include "repro/triage.h"

#include <cctype>
#include <map>

namespace repro_minify {
namespace {

constexpr int most_drawn = 40;

/// Names come from the model: what could end a label is left out.
std::string label_of(const std::string &text) {
  std::string label;
  for (const char c : text.substr(0, 60))
    label += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == '.' ? c : ' ';
  return label;
}

class Chart {
public:
  Chart(const Program &program, const ReproFacts &facts) : program_(program), facts_(facts) {}

  std::string text() {
    for (size_t i = 0; i < program_.inputs.size(); ++i)
      draw(program_.graph->inputs()[i], "([\"" + label_of(program_.inputs[i].name) + "\"])");
    for (const auto *node : program_.graph->nodes())
      if (counts_as_operator(node))
        draw_operator(node);
    return count_ > most_drawn ? "" : "flowchart TD\n" + out_;
  }

private:
  int draw(const torch::jit::Value *value, const std::string &shape) {
    const int number = count_++;
    numbers_[value] = number;
    out_ += "  n" + std::to_string(number) + shape + "\n";
    return number;
  }

  void draw_operator(const torch::jit::Node *node) {
    const std::string shape = "[\"" + label_of(operator_name(node)) + "\"]";
    const int number = count_++;
    for (const auto *output : node->outputs())
      numbers_[output] = number;
    out_ += "  n" + std::to_string(number) + shape + (is_wrong(node) ? ":::wrong" : "") + "\n";
    for (const auto *input : node->inputs())
      connect(input, number);
  }

  /// Through lists and tuples, which are not drawn.
  void connect(const torch::jit::Value *value, int to) {
    if (const auto from = numbers_.find(value); from != numbers_.end())
      out_ += "  n" + std::to_string(from->second) + " --> n" + std::to_string(to) + "\n";
    else
      for (const auto *input : value->node()->inputs())
        connect(input, to);
  }

  /// It makes a result that is wrong. Of an exception no operator is known.
  bool is_wrong(const torch::jit::Node *node) const {
    const auto outputs = program_.graph->outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i]->node() == node && i < facts_.reduced.outputs.size() && !facts_.reduced.outputs[i].same)
        return true;
    return false;
  }

  const Program &program_;
  const ReproFacts &facts_;
  std::map<const torch::jit::Value *, int> numbers_;
  std::string out_;
  int count_ = 0;
};

} // namespace

std::string mermaid_graph(const Program &program, const ReproFacts &facts) {
  const std::string chart = Chart(program, facts).text();
  return chart.empty() ? "" : chart + "  classDef wrong stroke:#d00,stroke-width:3px\n";
}

} // namespace repro_minify
