#include "program/value_digest.h"

#include "program/atoms.h"
#include "program/python_call.h"
#include "program/values.h"
#include "repro_minify/record.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace repro_minify {
namespace {

bool is_commutative(const Node *node) {
  static const std::set<std::string> names = {
      "aten::add",     "aten::mul",         "aten::maximum",    "aten::minimum",     "aten::eq",
      "aten::ne",      "aten::logical_and", "aten::logical_or", "aten::__and__",     "aten::__or__",
      "aten::__xor__", "aten::bitwise_and", "aten::bitwise_or", "aten::bitwise_xor", "aten::logical_xor"};
  return names.count(node->kind().toQualString()) > 0;
}

std::string number_form(double number, const char *type) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number > 0 ? "inf" : "-inf";
  if (number == 0 || number == 1 || number == -1)
    return std::to_string(static_cast<int>(number)) + type;
  return (number > 0 ? "+" : "-") + std::string(type);
}

/// `is_name`: the number stands for a word (a dtype, a layout), and is kept.
std::string constant_form(const c10::IValue &value, bool is_name) {
  if (value.isNone())
    return "None";
  if (value.isBool())
    return value.toBool() ? "True" : "False";
  if (value.isInt() && is_name)
    return std::to_string(value.toInt());
  if (value.isInt())
    return number_form(static_cast<double>(value.toInt()), "i");
  if (value.isDouble())
    return number_form(value.toDouble(), "f");
  if (value.isComplexDouble())
    return "complex";
  if (value.isString())
    return "'" + value.toStringRef() + "'";
  if (value.isTensor())
    return value.toTensor().defined() ? dtype_name(value.toTensor().scalar_type()) : "undefined";
  return value.tagKind(); // a list: how long it is goes with sizes
}

class FormOf {
public:
  explicit FormOf(const Program &program) : program_(program) {}

  std::string text() {
    for (size_t i = 0; i < program_.inputs.size() && i < program_.graph->inputs().size(); ++i) {
      const auto &value = program_.inputs[i].value;
      types_[program_.graph->inputs()[i]] = value.isTensor() ? constant_form(value, false) : value.tagKind();
    }
    const auto nodes = all_nodes(*program_.graph);
    for (const Node *node : nodes) // in order: what shape() asks about operands is known then, however long a chain is
      for (const Value *output : node->outputs())
        shape(output);
    return nodes.size() > most_nodes ? summary(nodes.size()) : block_text(program_.graph->block());
  }

private:
  /// A text is written by functions that call each other as deep as the graph is.
  static constexpr size_t most_nodes = 1000;

  std::string summary(size_t nodes) {
    std::vector<const Value *> outputs(program_.graph->outputs().begin(), program_.graph->outputs().end());
    sort_by_shape(outputs);
    Digest digest;
    for (const Value *output : outputs)
      digest.add(shape(output));
    return std::to_string(nodes) + " nodes, digest " + digest.text();
  }

  /// Writes first the nodes that nothing reads, in their order, as each is there for its effect alone; then the
  /// outputs, sorted at the top level.
  std::string block_text(const Block *block) {
    std::string text;
    for (const Node *node : block->nodes())
      if (!is_packing(node) && std::none_of(node->outputs().begin(), node->outputs().end(), is_read))
        text += node_text(node) + "; ";
    std::vector<const Value *> outputs(block->outputs().begin(), block->outputs().end());
    if (block == program_.graph->block())
      sort_by_shape(outputs);
    text += "return";
    for (const Value *output : outputs)
      text += " " + value_text(output);
    return text;
  }

  static bool is_read(const Value *value) { return value->hasUses(); }

  void sort_by_shape(std::vector<const Value *> &values) {
    std::stable_sort(values.begin(), values.end(), [&](auto *a, auto *b) { return shape(a) < shape(b); });
  }

  /// Returns a digest of a value by itself, whatever was met before: operands are sorted by it.
  const std::string &shape(const Value *value) {
    if (const auto known = shapes_.find(value); known != shapes_.end())
      return known->second;
    const Node *node = value->node();
    std::string text = operator_name(node);
    if (const auto type = types_.find(value); type != types_.end())
      text = type->second;
    else if (const auto constant = torch::jit::toIValue(value))
      text = constant_form(*constant, false);
    else if (node->kind() != prim::Param)
      for (const Value *input : node->inputs())
        text += "," + shape(input);
    Digest digest; // where values are shared, texts of texts would grow without bound
    digest.add(text);
    return shapes_[value] = digest.text();
  }

  std::string value_text(const Value *value, bool is_name = false) {
    if (const auto constant = torch::jit::toIValue(value))
      return constant_form(*constant, is_name);
    const auto [known, is_new] = numbers_.try_emplace(value, numbers_.size());
    const std::string label = "%" + std::to_string(known->second);
    if (!is_new)
      return label;
    const Node *node = value->node();
    if (node->kind() == prim::Param)
      return label + (types_.count(value) ? ":" + types_[value] : "");
    const std::string text = written_.insert(node).second ? node_text(node) : operator_name(node);
    const std::string which = node->outputs().size() > 1 ? "#" + std::to_string(value->offset()) : "";
    return (value->uses().size() > 1 ? label + "=" : "") + text + which;
  }

  std::string node_text(const Node *node) {
    written_.insert(node);
    std::vector<std::string> arguments = argument_texts(node);
    std::string text = operator_name(node);
    if (node->hasAttribute(torch::jit::attr::name) &&
        node->kindOf(torch::jit::attr::name) == torch::jit::AttributeKind::s)
      text += "." + node->s(torch::jit::attr::name);
    text += "(";
    for (size_t i = 0; i < arguments.size(); ++i)
      text += (i ? ", " : "") + arguments[i];
    text += ")";
    for (const Block *inner : node->blocks())
      text += " {" + block_text(inner) + "}";
    return text;
  }

  std::vector<std::string> argument_texts(const Node *node) {
    std::vector<const Value *> operands(node->inputs().begin(), node->inputs().end());
    if (is_commutative(node) && operands.size() >= 2 && shape(operands[1]) < shape(operands[0]))
      std::swap(operands[0], operands[1]);
    if (node->kind() == prim::ListConstruct && std::all_of(operands.begin(), operands.end(), [](const Value *operand) {
          return operand->type()->kind() == c10::TypeKind::IntType ||
                 operand->type()->kind() == c10::TypeKind::FloatType;
        }))
      return {"numbers"}; // sizes, strides, dimensions
    const auto *schema = node->maybeSchema();
    std::vector<std::string> texts;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_known = schema && i < schema->arguments().size();
      const auto constant = torch::jit::toIValue(operands[i]);
      if (is_known && constant && is_default(schema->arguments()[i], *constant))
        continue;
      const std::string name = is_known && i > 0 ? schema->arguments()[i].name() : "";
      const bool says_word = name == "dtype" || name == "layout" || name == "memory_format";
      texts.push_back((constant && !name.empty() ? name + "=" : "") + value_text(operands[i], says_word));
    }
    return texts;
  }

  static bool is_default(const c10::Argument &argument, const c10::IValue &value) {
    const auto &standard = argument.default_value();
    if (!standard || standard->isTensor() || value.isTensor())
      return false;
    if (standard->isNone() || value.isNone())
      return standard->isNone() && value.isNone();
    return standard->tagKind() == value.tagKind() && *standard == value;
  }

  const Program &program_;
  std::unordered_map<const Value *, std::string> types_, shapes_;
  std::unordered_map<const Value *, size_t> numbers_;
  std::set<const Node *> written_;
};

/// Once for each node that reads it, however often that one does.
bool has_several_readers(const Value *value) {
  std::set<const Node *> readers;
  for (const auto &use : value->uses())
    readers.insert(use.user);
  return readers.size() > 1;
}

} // namespace

std::string canonical_form(const Program &program) {
  return FormOf(program).text();
}

std::vector<std::string> operators_of(const Program &program) {
  std::set<std::string> names;
  for (const Node *node : all_nodes(*program.graph))
    if (counts_as_operator(node))
      names.insert(operator_name(node));
  return {names.begin(), names.end()};
}

int count_shared_results(const Program &program) {
  int count = 0;
  for (const Node *node : all_nodes(*program.graph))
    if (counts_as_operator(node))
      count += static_cast<int>(std::count_if(node->outputs().begin(), node->outputs().end(), has_several_readers));
  return count;
}

} // namespace repro_minify
