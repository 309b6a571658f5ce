// Calls of torch.fx with fewer arguments, and outside of modes (`with torch.no_grad():`). PyTorch says of no function
// in Python what may be left out: each is tried, and what eager refuses is no candidate. An operator has a schema: its
// arguments become the defaults that stand there.
#include "reduce/passes/pass.h"

#include "program/flat_graph.h"
#include "program/python_call.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/schema_defaults.h"

#include <algorithm>

namespace repro_minify {
namespace {

using nlohmann::json;
using torch::jit::Node;

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
  EditableCopy copy(program);
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
  drop_unused(copy.program);
  return std::move(copy.program);
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

bool shorten_call(PassContext &context, size_t which) {
  const Program start = context.current;
  const Node *node = calls_of(start).at(which);
  std::vector<LazyProgram> candidates;
  for (const json &call : Shorter(python_call_of(node)).found)
    candidates.emplace_back([&start, node, call] {
      EditableCopy copy(start);
      set_python_call(copy.of(node), call);
      drop_unused(copy.program);
      return std::move(copy.program);
    });
  for (const DefaultArgument &argument : arguments_with_defaults(node))
    candidates.emplace_back([&start, node, argument] {
      EditableCopy copy(start);
      set_argument(copy.of(node), argument);
      drop_unused(copy.program);
      return std::move(copy.program);
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
