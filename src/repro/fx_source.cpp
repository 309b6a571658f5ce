#include "repro/code.h"

#include "core/number_text.h"
#include "core/text.h"
#include "program/python_call.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace repro_minify {
namespace {

std::string quoted(const std::string &text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// A number as Python writes it: NaN and Inf have no literal, and a hand-made archive may hold any text.
std::string number_of(const std::string &type, const std::string &text) {
  const bool is_literal = !text.empty() && text.find_first_not_of("0123456789.e+-") == std::string::npos;
  return is_literal ? text : type + "(" + quoted(text) + ")";
}

std::string constant_text(const c10::IValue &value) {
  if (value.isBool())
    return value.toBool() ? "True" : "False";
  if (value.isInt())
    return std::to_string(value.toInt());
  if (value.isDouble())
    return number_of("float", double_literal(value.toDouble()));
  if (value.isString())
    return quoted(value.toStringRef());
  if (value.isNone())
    return "None";
  return value.isTensor() ? "<tensor>" : "<" + value.tagKind() + ">";
}

std::string name_of(const Value *value) {
  const auto constant = torch::jit::toIValue(value);
  if (constant)
    return constant_text(*constant);
  std::string name = value->debugName(); // "v3.1" is the name of another value than "v3"
  std::replace(name.begin(), name.end(), '.', '_');
  return std::isdigit(static_cast<unsigned char>(name.front())) ? "v" + name : name;
}

/// The arguments of one call.
class CallText {
public:
  explicit CallText(const Node *node) : node_(node), call_(python_call_of(node)) {}

  std::string text() const {
    if (call_.is_null())
      return operator_name(node_) + "(...)";
    std::vector<std::string> arguments;
    for (const auto &form : call_["a"])
      arguments.push_back(of(form));
    const std::string name = operator_name(node_);
    if (const std::string sign = sign_of(name); !sign.empty() && arguments.size() == 2)
      return arguments[0] + " " + sign + " " + arguments[1];
    if (name == "operator.getitem" && arguments.size() == 2)
      return arguments[0] + "[" + index(call_["a"][1]) + "]";
    if (name == "operator.setitem" && arguments.size() == 3)
      return arguments[0] + "[" + index(call_["a"][1]) + "] = " + arguments[2];
    std::string called = name;
    if (call_.contains("m") && !arguments.empty()) {
      called = arguments.front() + name;
      arguments.erase(arguments.begin());
    }
    if (call_.contains("k"))
      for (const auto &[key, form] : call_["k"].items())
        arguments.push_back(key + "=" + of(form));
    return called + "(" + joined(arguments, ", ") + ")";
  }

  /// Returns what stands before the call for the modes that it runs under: `with torch.no_grad(): `.
  std::string block() const {
    std::vector<std::string> modes;
    if (call_.is_object() && call_.contains("in"))
      for (const auto &mode : call_["in"])
        modes.push_back(mode_text(mode));
    return modes.empty() ? "" : "with " + joined(modes, ", ") + ": ";
  }

private:
  static std::string mode_text(const json &mode) {
    if (mode.contains("grad"))
      return mode["grad"] == true ? "torch.enable_grad()" : "torch.no_grad()";
    if (mode.contains("kernels"))
      return "torch.nn.attention.sdpa_kernel(...)";
    if (!mode.contains("autocast") || !mode["autocast"].is_array() || mode["autocast"].size() != 3)
      return "?";
    const json &cast = mode["autocast"];
    const std::string dtype = cast[1].is_string() ? ", dtype=torch." + cast[1].get<std::string>() : "";
    return "torch.autocast(" + cast[0].dump() + (cast[2] == true ? dtype : ", enabled=False") + ")";
  }

  static std::string sign_of(const std::string &name) {
    static const std::map<std::string, std::string> signs = {
        {"operator.add", "+"},      {"operator.sub", "-"},   {"operator.mul", "*"},   {"operator.truediv", "/"},
        {"operator.matmul", "@"},   {"operator.pow", "**"},  {"operator.mod", "%"},   {"operator.floordiv", "//"},
        {"operator.and_", "&"},     {"operator.or_", "|"},   {"operator.xor", "^"},   {"operator.eq", "=="},
        {"operator.ne", "!="},      {"operator.lt", "<"},    {"operator.le", "<="},   {"operator.gt", ">"},
        {"operator.ge", ">="},      {"operator.iadd", "+="}, {"operator.isub", "-="}, {"operator.imul", "*="},
        {"operator.itruediv", "/="}};
    const auto found = signs.find(name);
    return found == signs.end() ? "" : found->second;
  }

  std::vector<std::string> all(const json &forms) const {
    std::vector<std::string> texts;
    for (const auto &form : forms)
      texts.push_back(of(form));
    return texts;
  }

  std::string of(const json &form) const {
    if (form.is_array())
      return "[" + joined(all(form), ", ") + "]";
    if (!form.is_object() || form.size() != 1)
      return "?";
    const std::string kind = form.begin().key();
    const json &content = form.begin().value();
    if (kind == "%")
      return name_of(node_->input(content.get<size_t>() + 1));
    if (kind == "tuple" || kind == "slice" || kind == "dict" || kind == "complex")
      return content.is_array() ? of_parts(kind, content) : "?";
    if (kind == "graph" && content.contains("calls"))
      return "<graph of " + std::to_string(content["calls"].size()) + " calls>";
    if (kind == "none")
      return "None";
    if (kind == "ellipsis")
      return "...";
    if (kind == "bool")
      return content == 1 ? "True" : "False";
    if (!content.is_string())
      return "?";
    const std::string text = content.get<std::string>();
    if (kind == "float" || kind == "int")
      return number_of(kind, text);
    return kind == "torch"    ? "torch." + text
           : kind == "device" ? "torch.device(" + quoted(text) + ")"
           : kind == "text"   ? quoted(text)
                              : "?";
  }

  std::string of_parts(const std::string &kind, const json &parts) const {
    if (kind == "tuple")
      return "(" + joined(all(parts), ", ") + (parts.size() == 1 ? ",)" : ")");
    if (kind == "slice")
      return "slice(" + joined(all(parts), ", ") + ")";
    std::vector<std::string> texts;
    for (const auto &part : parts)
      if (kind == "dict")
        texts.push_back(part.size() == 2 ? of(part[0]) + ": " + of(part[1]) : "?");
      else
        texts.push_back(part.is_string() ? number_of("float", part.get<std::string>()) : "?");
    return kind == "dict" ? "{" + joined(texts, ", ") + "}" : "complex(" + joined(texts, ", ") + ")";
  }

  /// Returns the text between brackets: 1:, ..., None
  std::string index(const json &form) const {
    if (form.is_object() && form.contains("slice") && form["slice"].size() == 3) {
      const auto bound = [&](const json &part) { return part.contains("none") ? std::string() : of(part); };
      const json &bounds = form["slice"];
      const std::string step = bound(bounds.at(2));
      return bound(bounds.at(0)) + ":" + bound(bounds.at(1)) + (step.empty() ? "" : ":" + step);
    }
    if (form.is_object() && form.contains("tuple") && !form["tuple"].empty()) {
      std::vector<std::string> parts;
      for (const auto &part : form["tuple"])
        parts.push_back(index(part));
      return joined(parts, ", ") + (parts.size() == 1 ? "," : "");
    }
    return of(form);
  }

  const Node *node_;
  const json call_;
};

std::string names_of(at::ArrayRef<const Value *> values) {
  std::vector<std::string> names;
  for (const Value *value : values)
    names.push_back(name_of(value));
  return joined(names, ", ");
}

/// Returns the text of a node that is no call of Python: a list put together or taken apart, an operator that a pass
/// has put in.
std::string other_text(const Node *node) {
  if (node->kind() == torch::jit::aten::__getitem__)
    return name_of(node->input(0)) + "[" + name_of(node->input(1)) + "]";
  if (node->kind() == prim::ListConstruct)
    return "[" + names_of(node->inputs()) + "]";
  if (node->kind() == prim::TupleConstruct)
    return "(" + names_of(node->inputs()) + ",)";
  if (node->kind() == prim::ListUnpack || node->kind() == prim::TupleUnpack)
    return name_of(node->input());
  return std::string("torch.ops.") + node->kind().ns().toUnqualString() + "." + node->kind().toUnqualString() + "(" +
         names_of(node->inputs()) + ")";
}

/// Returns the modes that a call runs under, as they stand before it; empty where there are none.
std::string block_of(const Node *node) {
  return is_python_call(node) ? CallText(node).block() : "";
}

std::string call_of(const Node *node) {
  return is_python_call(node) ? CallText(node).text() : other_text(node);
}

} // namespace

std::string fx_line(const Node *node) {
  return block_of(node) + call_of(node);
}

std::vector<CodePiece> fx_pieces(const Program &program) {
  const auto &graph = *program.graph;
  std::vector<CodePiece> pieces = {{"def f(" + names_of(graph.inputs()) + "):\n", ""}};
  for (const Node *node : graph.nodes()) {
    if (node->kind() == prim::Constant)
      continue;
    const std::string names = node->hasUses() ? names_of(node->outputs()) + " = " : ""; // of results that are read
    const std::string line = block_of(node) + names + call_of(node);
    const std::string value = node->outputs().empty() ? "" : "%" + node->output(0)->debugName();
    pieces.push_back({"    " + line + "\n", value});
  }
  pieces.push_back({"    return " + names_of(graph.outputs()) + "\n", ""});
  return pieces;
}

std::string fx_source(const Program &program) {
  std::string text;
  for (const auto &piece : fx_pieces(program))
    text += piece.text;
  return text;
}

} // namespace repro_minify
