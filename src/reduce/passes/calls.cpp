// Calls of torch.fx with fewer arguments, and outside of modes (`with torch.no_grad():`). PyTorch says of no function
// in Python what may be left out: each is tried, and what eager refuses is no candidate. An operator has a schema: its
// arguments become the defaults that stand there.
#include "reduce/passes/pass.h"

#include "program/python_call.h"
#include "reduce/passes/edit_constants.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

namespace repro_minify {
namespace {

const json nothing = {{"none", 1}};

std::vector<const Node *> calls_of(const Program &program) {
  std::vector<const Node *> calls;
  for (const Node *node : program.graph->nodes())
    if (is_python_call(node))
      calls.push_back(node);
  return calls;
}

/// Returns the modes that a call runs under (fx_modes.py).
json modes_of(const json &call) {
  return call.is_object() ? call.value("in", json::array()) : json::array();
}

void set_modes(json &call, const json &modes) {
  if (modes.empty())
    call.erase("in");
  else
    call["in"] = modes;
}

/// Adds the numbers of the values of a graph that a form in it names, each once.
void add_values_in(const json &form, std::vector<json> &values) {
  if (!form.is_structured() || (form.is_object() && form.contains("graph")))
    return;
  if (form.is_object() && form.contains("$")) {
    if (std::find(values.begin(), values.end(), form["$"]) == values.end())
      values.push_back(form["$"]);
    return;
  }
  for (const auto &part : form)
    add_values_in(part, values);
}

/// Has what reads value `gone` of a graph read `other`; the values behind it move up by one.
void read_instead(json &form, size_t gone, const json &other) {
  if (!form.is_structured())
    return;
  if (form.is_object() && form.contains("$") && form["$"].is_number_unsigned()) {
    const auto number = form["$"].get<size_t>();
    if (number >= gone)
      form["$"] = number == gone ? other : json(number - 1);
    return;
  }
  for (auto &part : form)
    if (!part.is_object() || !part.contains("graph"))
      read_instead(part, gone, other);
}

/// Returns every mode that some call runs under, each once.
std::vector<json> modes_in(const Program &program) {
  std::vector<json> found;
  for (const Node *node : calls_of(program))
    for (const auto &mode : modes_of(python_call_of(node)))
      if (std::find(found.begin(), found.end(), mode) == found.end())
        found.push_back(mode);
  return found;
}

/// Returns the program with no call under that mode.
Program without_mode(const Program &program, const json &mode) {
  return edited(program, [&](EditableCopy &copy) {
    for (const Node *node : calls_of(program)) {
      json call = python_call_of(node), rest = json::array();
      for (const auto &each : modes_of(call))
        if (each != mode)
          rest.push_back(each);
      if (rest.size() < modes_of(call).size()) {
        set_modes(call, rest);
        set_python_call(copy.of(node), call);
      }
    }
  });
}

bool leave_out_a_mode(PassContext &context) {
  const Program start = context.current;
  std::vector<LazyProgram> candidates;
  for (const json &mode : modes_in(start))
    candidates.emplace_back([&start, mode] { return without_mode(start, mode); });
  return accept_first(context, candidates);
}

/// Collects calls that are shorter by one mode, argument, element or bound each.
class Shorter {
public:
  explicit Shorter(json call) : call_(std::move(call)) {
    if (call_.is_null())
      return;
    leave_out_modes();
    leave_out_keywords();
    leave_out_last_argument();
    shorten_lists_together();
    for (const char *part : {"a", "k"})
      if (call_.contains(part))
        for (auto &argument : call_[part])
          shorten(argument);
  }

  std::vector<json> found;

private:
  void keep() { found.push_back(call_); }

  void leave_out_modes() {
    const json all = modes_of(call_);
    for (size_t place = 0; place < all.size(); ++place) {
      json fewer = all;
      fewer.erase(place);
      set_modes(call_, fewer);
      keep();
    }
    set_modes(call_, all);
  }

  void leave_out_keywords() {
    if (!call_.contains("k"))
      return;
    const json all = call_["k"];
    for (const auto &[name, form] : all.items()) {
      call_["k"].erase(name);
      if (call_["k"].empty())
        call_.erase("k");
      keep();
      call_["k"] = all;
    }
  }

  void leave_out_last_argument() {
    json &arguments = call_["a"];
    if (arguments.size() < 2)
      return;
    const json last = arguments.back();
    arguments.erase(arguments.size() - 1);
    keep();
    arguments.push_back(last);
  }

  /// `_foreach_add([a, b], [c, d])` takes lists of one length.
  void shorten_lists_together() {
    const json all = call_["a"];
    size_t longest = 0;
    for (const auto &argument : all)
      longest = std::max(longest, argument.is_array() ? argument.size() : 0);
    for (size_t place = 0; longest > 1 && place < longest; ++place) {
      for (auto &argument : call_["a"])
        if (argument.is_array() && argument.size() == longest)
          argument.erase(place);
      keep();
      call_["a"] = all;
    }
  }

  /// An element less in a list or tuple, a bound less in a slice, however deep.
  void shorten(json &form) {
    if (form.is_array())
      return shorten_parts(form);
    if (!form.is_object() || form.size() != 1)
      return;
    const std::string kind = form.begin().key();
    if (kind == "graph") {
      leave_out_calls(form["graph"]);
    } else if (kind == "slice") {
      leave_out_bounds(form["slice"]);
    } else if (kind == "tuple") {
      if (form["tuple"].size() == 1) {
        const json whole = form;
        form = json(whole["tuple"][0]);
        keep();
        form = whole;
      }
      shorten_parts(form["tuple"]);
    }
  }

  void shorten_parts(json &parts) {
    const json all = parts;
    for (size_t place = 0; all.size() > 1 && place < all.size(); ++place) {
      parts.erase(place);
      keep();
      parts = all;
    }
    for (auto &part : parts)
      shorten(part);
  }

  /// A call less in a graph that a higher-order operator is given, or in one that a call of it is given: a value that
  /// it reads is read instead.
  void leave_out_calls(json &graph) {
    const json whole = graph;
    if (!whole.contains("calls") || !whole["calls"].is_array())
      return;
    for (size_t place = 0; place < whole["calls"].size(); ++place) {
      std::vector<json> read;
      add_values_in(whole["calls"][place], read);
      for (const json &other : read) {
        graph["calls"].erase(place);
        read_instead(graph, whole.value("takes", size_t{0}) + place, other);
        keep();
        graph = whole;
      }
      json &inner = graph["calls"][place];
      if (inner.is_object() && inner.contains("a") && inner["a"].is_array())
        for (auto &argument : inner["a"])
          if (argument.is_object() && argument.contains("graph"))
            leave_out_calls(argument["graph"]);
    }
  }

  void leave_out_bounds(json &bounds) {
    for (auto &bound : bounds)
      if (bound != nothing) {
        const json before = std::exchange(bound, nothing);
        keep();
        bound = before;
      }
  }

  json call_;
};

/// "torch.ops.aten.add.Tensor" is aten::add.Tensor, "torch.ops.aten.sum.default" aten::sum without an overload.
std::optional<c10::OperatorHandle> called_operator(const std::string &name) {
  constexpr std::string_view prefix = "torch.ops.";
  const size_t dot = name.rfind('.');
  if (!name.starts_with(prefix) || dot <= prefix.size())
    return std::nullopt;
  std::string packet = name.substr(prefix.size(), dot - prefix.size());
  const size_t library_end = packet.find('.');
  if (library_end == std::string::npos)
    return std::nullopt;
  packet.replace(library_end, 1, "::");
  const std::string overload = name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({packet, overload == "default" ? "" : overload});
}

/// The constant that an argument is; nothing for another kind of argument.
std::optional<c10::IValue> constant_at(const Node *node, const json &form) {
  const bool is_operand = form.is_object() && form.size() == 1 && form.contains("%");
  return is_operand ? torch::jit::toIValue(node->input(form["%"].get<size_t>() + 1)) : std::nullopt;
}

/// The form of a value that is no operand (fx_call.py); null where there is none.
json literal_of(const c10::IValue &value) {
  if (value.isNone())
    return {{"none", 1}};
  if (value.isInt())
    return {{"int", std::to_string(value.toInt())}};
  if (value.isDouble())
    return {{"float", json(value.toDouble()).dump()}};
  if (value.isBool())
    return {{"bool", value.toBool() ? 1 : 0}};
  return value.isString() ? json{{"text", value.toStringRef()}} : json();
}

/// Returns a call of an operator (torch.ops.aten.cross_entropy_loss.default) once for each positional argument that has
/// another value than the default that the operator's schema gives, with that default. The last argument is left out: a
/// call can do without it. Empty for a call of anything else, and for an operator that this process does not know.
std::vector<json> with_defaults(const Node *node) {
  std::vector<json> found;
  const json call = python_call_of(node);
  if (call.is_null() || !call.contains("f"))
    return found;
  const auto handle = called_operator(call["f"]);
  if (!handle || !handle->hasSchema())
    return found;
  const auto &arguments = handle->schema().arguments();
  const json &given = call["a"];
  for (size_t place = 0; place + 1 < std::min(given.size(), arguments.size()); ++place) {
    const auto &fallback = arguments[place].default_value();
    const json literal = fallback ? literal_of(*fallback) : json();
    if (literal.is_null() || given[place] == literal)
      continue;
    const auto value = constant_at(node, given[place]);
    // A tensor is left out where there may be none; another computed value is not for this pass to judge.
    if (value ? !is_same_constant(*value, *fallback) : fallback->isNone())
      found.emplace_back(call)["a"][place] = literal;
  }
  return found;
}

bool shorten_call(PassContext &context, size_t which) {
  const Program start = context.current;
  const Node *node = calls_of(start).at(which);
  std::vector<LazyProgram> candidates;
  for (const auto &calls : {Shorter(python_call_of(node)).found, with_defaults(node)})
    for (const json &call : calls)
      candidates.emplace_back([&start, node, call] {
        return edited(start, [&](EditableCopy &copy) { set_python_call(copy.of(node), call); });
      });
  return accept_first(context, candidates);
}

} // namespace

void shorten_calls(PassContext &context) {
  while (leave_out_a_mode(context)) {
  }
  for (size_t which = 0; which < calls_of(context.current).size(); ++which)
    while (which < calls_of(context.current).size() && shorten_call(context, which)) {
    }
}

} // namespace repro_minify
