#include "repro/script_text.h"

#include "core/text.h"
#include "program/python_call.h"
#include "program/values.h"
#include "repro/render.h"
#include "repro/triage.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace repro_minify {
namespace {

using nlohmann::json;

/// Returns the last words of the first three operators, for the name of a test: "unfold", "neg".
std::vector<std::string> operator_names(const Program &program) {
  std::vector<std::string> names;
  for (const auto *node : program.graph->nodes())
    if (counts_as_operator(node) && names.size() < 3) {
      std::string name = short_operator_name(node);
      if (name.ends_with("__")) // __and__, but not mul_
        name.resize(name.size() - 2);
      const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      if (std::all_of(name.begin(), name.end(), is_word))
        names.push_back(name.substr(std::min(name.find_first_not_of('_'), name.size())));
    }
  return names;
}

/// Returns which PyTorch the failure was seen with, and the versions of the runtime behind it. A backend in a process
/// of its own can have another PyTorch than this one.
std::string seen_with(const ReproFacts &facts, const PythonCall &call) {
  const ReproInPython *own = facts.backend->parts().repro_in_python;
  std::string words = "PyTorch " + (own ? own->torch_version() : facts.torch_version);
  if (const OwnTracker *tracker = facts.backend->parts().tracker; tracker && !call.statements.empty())
    for (const json &pair : tracker->tracker().at("versions"))
      if (pair.at(0) != "torch")
        words += ", " + pair.at(0).get<std::string>() + " " + pair.at(1).get<std::string>();
  return words;
}

/// Returns the lines indented as a method's body, with one empty line where there are two.
std::string in_method(const std::string &body) {
  std::istringstream lines(body);
  std::string text;
  bool after_empty = false;
  for (std::string line; std::getline(lines, line); after_empty = line.empty())
    if (!line.empty() || !after_empty)
      text += (line.empty() ? "" : "        ") + line + "\n";
  return text;
}

/// The values that the templates of repro.py and test_repro.py share.
json frame(const ScriptParts &parts) {
  const json settings = script_settings(parts);
  return {{"headline", headline(parts.program, parts.facts, parts.text.statement)},
          {"needs_path", !parts.facts.libraries.empty() || parts.text.reads_files},
          {"imports", parts.text.imports},
          {"settings", settings.empty() ? json(nullptr) : json{{"list", settings}}},
          {"operators", parts.facts.libraries}};
}

} // namespace

std::string script_text(const ScriptParts &parts) {
  json values = frame(parts);
  values["made"] = seen_with(parts.facts, parts.call) + "; reduced by repro-minify " + parts.facts.version;
  values["body"] = script_body(parts, /*is_test=*/false);
  return render("repro.py.tpl", values);
}

std::string test_text(const ScriptParts &parts) {
  json values = frame(parts);
  const std::string operators = joined(operator_names(parts.program), "_");
  values["name"] = operators.empty() ? "compiled" : operators;
  values["device"] = c10::DeviceTypeName(parts.facts.check.device.type(), /*lower_case=*/true);
  values["body"] = in_method(script_body(parts, /*is_test=*/true));
  return render("test_repro.py.tpl", values);
}

} // namespace repro_minify
