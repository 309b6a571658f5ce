// issue.md for a runtime that is another project's: in the fields of the form that its tracker has.
#include "backends/in_python.h"
#include "repro/results_folder.h"
#include "repro/triage.h"
#include "repro_minify/backend_parts.h"

#include <filesystem>
#include <sstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

constexpr const char *torch_export = "torch.export";

/// The form of a tracker that the recipe does not describe.
const json &usual_form() {
  const auto field = [](const char *heading, const char *what) { return json::array({heading, what}); };
  static const json form = json::array(
      {field("Describe the bug", "problem"), field("To reproduce", "script attached"), field("Versions", "versions")});
  return form;
}

/// "torch 2.13.0, onnxruntime 1.32.0, ...", a line each, and what they ran on.
std::string versions_text(const json &recipe) {
  std::string text;
  for (const auto &pair : recipe.at("versions"))
    text += pair.at(0).get<std::string>() + " " + pair.at(1).get<std::string>() + "\n";
  const json &system = recipe.at("system");
  for (const char *what : {"python", "os", "architecture", "cpu"})
    text += std::string(what) + ": " + system.value(what, "") + "\n";
  return text;
}

/// The version of the runtime alone; torch's comes before it.
std::string version_of(const json &recipe) {
  const json &versions = recipe.at("versions");
  return versions.size() > 1 ? versions[1].at(1).get<std::string>() : "not known";
}

/// The files that the runtime loads, which lie beside the repro.
std::string attached_in(const std::string &folder) {
  std::string names;
  std::error_code none;
  for (const auto &entry : fs::directory_iterator(folder, none))
    if (entry.path().stem() == "model" && is_of_this_run(entry.path()))
      names += (names.empty() ? "" : ", ") + entry.path().filename().string();
  return names;
}

/// An exception of a step need not be the one that is reported.
std::string failure_of(const Bisection::Check &check, const ReproFacts &facts) {
  const bool is_another = facts.signature.kind == FailureKind::Exception && check.message != facts.reduced.message;
  return is_another ? "fails: " + check.message : "fails";
}

json witnesses_of(const ReproFacts &facts) {
  json rows = json::array();
  if (facts.bisection)
    for (const auto &check : facts.bisection->checks)
      rows.push_back({{"what", check.what},
                      {"outcome", check.fails             ? failure_of(check, facts)
                                  : check.unresolved      ? "not known: " + check.message
                                  : check.message.empty() ? "right"
                                                          : "another result: " + check.message}});
  return rows;
}

/// One field: what its words name, or the text after "=".
json field(const std::string &heading, const std::string &content, const IssueContents &contents,
           const ReproFacts &facts, const json &recipe, const std::string &folder) {
  json values = {{"heading", heading}};
  if (content.starts_with("=")) {
    values["text"] = content.substr(1);
    return values;
  }
  std::istringstream words(content);
  for (std::string word; words >> word;) {
    if (word == "problem") {
      values["problem"] = contents.problem;
      values["problem"]["witnesses"] = witnesses_of(facts);
    } else if (word == "script") {
      values["script"] = contents.script;
      values["why_no_script"] = contents.why_no_script;
    } else if (word == "attached") {
      values["attached"] = attached_in(folder);
    } else if (word == "versions") {
      values["listing"] = versions_text(recipe);
    } else if (word == "log") {
      values["listing"] = contents.log;
    } else if (word == "version") {
      values["text"] = version_of(recipe);
    } else {
      values["text"] = recipe.at("system").value(word, "not known");
    }
  }
  return values;
}

} // namespace

std::string tracker_of_converter(const ReproFacts &facts) {
  return facts.backend->parts().tracker->tracker().at("converter").at(2);
}

std::string faulty_part_of_pytorch(const ReproFacts &facts) {
  const OwnTracker *own = facts.backend->parts().tracker;
  if (!own || !facts.bisection || !facts.bisection->guilty)
    return "";
  const std::string &guilty = *facts.bisection->guilty;
  if (guilty == torch_export)
    return guilty;
  const json converter = own->tracker().is_null() ? json() : own->tracker().value("converter", json());
  const bool is_pytorchs = converter.is_array() && converter.at(0) == guilty &&
                           tracker_of_converter(facts).starts_with("https://github.com/pytorch/pytorch/");
  return is_pytorchs ? guilty : "";
}

bool is_fault_of_export(const ReproFacts &facts) {
  return faulty_part_of_pytorch(facts) == torch_export;
}

bool is_for_pytorch(const ReproFacts &facts) {
  return is_part_of_pytorch(*facts.backend) || !faulty_part_of_pytorch(facts).empty();
}

TrackerForm form_of_tracker(const ReproFacts &facts, const IssueContents &contents, const std::string &folder) {
  if (is_for_pytorch(facts) || !facts.backend->parts().tracker)
    return {};
  const json &recipe = facts.backend->parts().tracker->tracker();
  const json &tracker = recipe.at("tracker");
  TrackerForm form{tracker.value("title", ""), json::array()};
  for (const auto &pair : tracker.contains("fields") ? tracker.at("fields") : usual_form())
    form.fields.push_back(
        field(pair.at(0).get<std::string>(), pair.at(1).get<std::string>(), contents, facts, recipe, folder));
  return form;
}

} // namespace repro_minify
