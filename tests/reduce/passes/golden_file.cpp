#include "reduce/passes/golden_file.h"

#include "program/executor.h"
#include "program/formula.h"
#include "program/program_from.h"
#include "program/read_inputs.h"
#include "reduce/passes/golden.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace repro_minify::testing_support {
namespace {

constexpr const char *program_mark = "--- program\n", *rest_mark = "--- becomes, in ";

std::vector<std::string> words_of(const std::string &line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

int64_t trips_of(const Program &program) {
  for (const auto *node : all_nodes(*program.graph))
    if (node->kind() == torch::jit::prim::Loop)
      return torch::jit::toIValue(node->input(0)).value_or(c10::IValue(0)).toInt();
  return 0;
}

using InputNeed = std::function<bool(const ProgramInput &, const std::vector<std::string> &)>;

/// `needs: input N WORD ...`
const std::map<std::string, InputNeed> &input_needs() {
  static const auto tensor = [](const ProgramInput &input) { return input.value.toTensor(); };
  static const std::map<std::string, InputNeed> needs = {
      {"parameter", [](const auto &input, const auto &) { return input.role == Role::Parameter; }},
      {"strided", [](const auto &input, const auto &) { return !tensor(input).is_contiguous(); }},
      {"grad", [](const auto &input, const auto &) { return tensor(input).requires_grad(); }},
      {"nan", [](const auto &input, const auto &) { return tensor(input).isnan().any().template item<bool>(); }},
      {"dtype", [](const auto &input, const auto &words) { return toString(tensor(input).scalar_type()) == words[3]; }},
      {"dim", [](const auto &input, const auto &words) { return tensor(input).dim() >= std::stoi(words[3]); }},
      {"size",
       [](const auto &input, const auto &words) {
         const int64_t at = std::stoi(words[3]);
         return tensor(input).dim() > at && tensor(input).size(at) >= std::stoi(words[4]);
       }},
      {"varied",
       [](const auto &input, const auto &) {
         return tensor(input).numel() > 1 && !tensor(input).eq(tensor(input).flatten()[0]).all().template item<bool>();
       }},
  };
  return needs;
}

bool has(const Program &program, const std::vector<std::string> &words) {
  if (words[0] == "input") {
    const size_t at = std::stoul(words[1]);
    return program.inputs.size() > at && input_needs().at(words[2])(program.inputs[at], words);
  }
  const bool counted = words.size() == 2;
  const int wanted = counted ? std::stoi(words[0]) : 1;
  const std::string &what = words.back();
  if (what == "inputs")
    return static_cast<int>(program.inputs.size()) >= wanted;
  if (what == "outputs")
    return static_cast<int>(program.graph->outputs().size()) >= wanted;
  if (what == "trips")
    return trips_of(program) >= wanted;
  return count(program, what) >= wanted;
}

/// `input: [parameter] [grad] ones|arange|transposed|data SPEC`
ProgramInput input_of(const std::vector<std::string> &words, size_t number) {
  ProgramInput input;
  input.name = "x" + std::to_string(number);
  at::Tensor value = inputs_from_specs({words.back()}, 0, false).toTupleRef().elements()[0].toTensor();
  for (const auto &word : words) {
    if (word == "parameter")
      input.role = Role::Parameter;
    else if (word == "ones")
      value = at::ones_like(value);
    else if (word == "arange")
      value = at::arange(value.numel()).to(value.scalar_type()).reshape(value.sizes());
    else if (word == "transposed")
      value = value.t();
  }
  const bool grad = std::find(words.begin(), words.end(), "grad") != words.end();
  input.value = grad ? value.set_requires_grad(true) : value;
  return input;
}

std::string data_text(const at::Tensor &tensor) {
  constexpr int64_t few = 8;
  if (tensor.numel() > few)
    return "data";
  std::string text;
  for (int64_t i = 0; i < tensor.numel(); ++i)
    text += (i ? ", " : "") + number_text(tensor.detach().flatten()[i].item<double>());
  return "{" + text + "}";
}

std::string text_of(const ProgramInput &input) {
  const auto &tensor = input.value.toTensor();
  std::ostringstream text;
  text << input.name << ": " << to_string(input.role) << ' ' << toString(tensor.scalar_type()) << tensor.sizes();
  if (!tensor.is_contiguous())
    text << " strided";
  if (tensor.requires_grad())
    text << " grad";
  text << ' ' << (input.formula ? to_string(*input.formula) : data_text(tensor));
  return text.str();
}

} // namespace

GoldenFile read_golden(const std::string &text) {
  register_python_calls();
  const size_t graph_at = text.find(program_mark);
  if (graph_at == std::string::npos)
    throw std::runtime_error("no line '--- program'");
  const size_t end = std::min(text.find(rest_mark), text.size());
  GoldenFile golden{text.substr(0, end), text.substr(end), {}, {}};
  std::vector<ProgramInput> inputs;
  std::vector<std::vector<std::string>> needs;
  std::istringstream lines(text.substr(0, graph_at));
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    const std::vector<std::string> rest(words.begin() + !words.empty(), words.end());
    if (words.empty() || words[0].starts_with("#"))
      continue;
    if (words[0] == "input:")
      inputs.push_back(input_of(rest, inputs.size()));
    else if (words[0] == "needs:")
      needs.push_back(rest);
    else
      throw std::runtime_error("neither 'input:' nor 'needs:': " + line);
  }
  const size_t graph_begin = graph_at + std::string(program_mark).size();
  golden.program = program_from(text.substr(graph_begin, end - graph_begin), {});
  golden.program.inputs = std::move(inputs);
  golden.needs = [needs](const Program &candidate) {
    return std::all_of(needs.begin(), needs.end(), [&](const auto &words) { return has(candidate, words); });
  };
  return golden;
}

std::string golden_rest(const Reduction &reduction) {
  std::string text = rest_mark + std::to_string(reduction.checks) + (reduction.checks == 1 ? " check\n" : " checks\n") +
                     reduction.program.graph->toString(false) + "--- inputs\n";
  for (const auto &input : reduction.program.inputs)
    text += text_of(input) + '\n';
  return text;
}

} // namespace repro_minify::testing_support
