#include "repro/failures_page.h"

#include "core/files.h"
#include "repro/render.h"
#include "repro/reported.h"
#include "repro/results_folder.h"
#include "repro/triage.h"

#include <filesystem>

namespace repro_minify {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Returns repro.py, or the program alone where this run has written none.
std::string code_of(const FailuresPage::Failure &failure) {
  const std::string script = failure.folder + "/repro.py";
  return is_of_this_run(script) ? read_file(script) : program_text(failure.program);
}

json failure_json(const FailuresPage::Failure &failure) {
  const ReproFacts &facts = failure.facts;
  return {{"headline", headline(failure.program, facts)},
          {"folder", fs::path(failure.folder).filename().string()},
          {"kind", to_string(facts.signature.kind)},
          {"guilty", facts.bisection && facts.bisection->guilty ? json(*facts.bisection->guilty) : json(nullptr)},
          {"places", failure.places},
          {"operators_before", facts.before.operators},
          {"operators_after", facts.after.operators},
          {"checks", facts.checks},
          {"verified", is_verified(facts)}};
}

json files_of(const FailuresPage::Failure &failure) {
  json files = json::array();
  for (const char *name : {"report.html", "issue.md", "repro.py", "test_repro.py", "repro.cpp"})
    if (is_of_this_run(failure.folder + "/" + name))
      files.push_back({{"name", name}, {"link", fs::path(failure.folder).filename().string() + "/" + name}});
  return files;
}

std::string heading_of(const FailuresPage &page) {
  const std::string count =
      std::to_string(page.failures.size()) + (page.failures.size() == 1 ? " failure" : " failures");
  return page.model.empty() ? count : count + " of " + fs::path(page.model).filename().string();
}

std::string outcome_of(const FailuresPage &page) {
  return page.passes ? "Without what they need, the model passes."
                     : "Whether there are more is not known: " + page.why + ".";
}

} // namespace

void write_failures(const FailuresPage &page, const std::string &folder) {
  json list = json::array(), entries = json::array();
  for (const FailuresPage::Failure &failure : page.failures) {
    list.push_back(failure_json(failure));
    json entry = list.back();
    entry["code"] = code_of(failure);
    entry["files"] = files_of(failure);
    entry["places_in_words"] = std::to_string(failure.places) + (failure.places == 1 ? " place" : " places");
    entry["guilty"] = list.back().at("guilty").is_null() ? "" : list.back().at("guilty");
    entries.push_back(std::move(entry));
  }
  const json facts = {{"model", page.model}, {"passes", page.passes}, {"why", page.why}, {"failures", list}};
  write_atomically(folder + "/failures.json", facts.dump(2, ' ', true, json::error_handler_t::replace) + "\n");
  json values = {{"heading", heading_of(page)}, {"outcome", outcome_of(page)}, {"entries", entries}};
  values.update(head_json());
  write_atomically(folder + "/index.html", render("failures.html.tpl", values));
}

} // namespace repro_minify
