// The contents of the reports: of report.json for scripts, and of those for people.
#pragma once
#include "core/json.h"
#include "repro_minify/nature.h"
#include "repro_minify/repro.h"

#include <optional>
#include <string>

namespace repro_minify {

/// Returns null where it is not known.
template <typename Value> json if_known(const std::optional<Value> &value) {
  return value ? json(*value) : json(nullptr);
}
/// Returns what the difference is, a bug or rounding, and why; null where it is not known.
json nature_json(const std::optional<Nature> &nature);
/// True if there is an issue.md: there is none for what an oracle finds interesting.
bool has_issue(const ReproFacts &facts);
/// True if there is a repro.cpp too: there is none of a backend that Python alone can call.
bool has_cpp(const ReproFacts &facts);
/// True if a repro was run and shows the failure: repro.cpp or repro.py.
bool is_verified(const ReproFacts &facts);
/// Returns the program as TorchScript, or as the graph itself where it has no source.
std::string program_text(const Program &program);
/// Returns the simplifications that `one_minimal` is about, beside operators, inputs and outputs: an array of {pass,
/// what}.
json simplifications_json();
/// Returns the numbers of a pass.
json pass_json(const PassStatistics &row);
/// Returns report.json; docs/reference.md names its keys. `folder`: which files there are is looked up there.
json report_json(const Program &program, const ReproFacts &facts, const std::string &folder);
/// Returns the values that report.md and report.html show, two forms of them: report.md.tpl has a hole or a section for
/// each.
json report_values(const Program &program, const ReproFacts &facts, const std::string &folder);

} // namespace repro_minify
