#include "repro/workaround.h"

#include "core/text.h"
#include "repro/render.h"
#include "repro/script_run.h"
#include "repro/triage.h"

#include <algorithm>
#include <cstdlib>

namespace repro_minify {
namespace {

using Outcome = VersionRow::Outcome;

std::optional<bool> flag_of(const json &answer, const char *name) {
  const auto found = answer.find(name);
  return found != answer.end() && found->is_boolean() ? std::optional(found->get<bool>()) : std::nullopt;
}

/// Runs one script again and again, each time in another Python.
class Versions {
public:
  Versions(const ReproFacts &facts, const std::string &results, const std::function<bool()> &interrupted)
      : facts_(facts), results_(results), interrupted_(interrupted), script_(read_file(results + "/repro.py")) {}

  VersionRow row(const std::string &python) {
    ScriptToRun script{.python = python,
                       .files = {{"versions.py", render("versions.py.tpl", json::object())}, {"repro.py", script_}},
                       .reads_files = true};
    if (!reference_.empty())
      script.files.emplace_back("reference.pt", reference_);
    const auto [task, folder] = start_script(script, facts_, results_);
    const ReproRun ended = task->wait(interrupted_);
    const json answer = json::parse(read_file(*folder / "answer.json"), nullptr, /*allow_exceptions=*/false);
    if (reference_.empty())
      reference_ = read_file(*folder / "sides.pt");
    return row_of(ended, answer.is_object() ? answer : json::object());
  }

private:
  VersionRow row_of(const ReproRun &ended, const json &answer) const {
    VersionRow row;
    row.torch = answer.value("torch", "");
    const bool is_over = ended.job_end.ending == Ending::Exited;
    const Verification verdict = judge_script(ended, script_, facts_.signature);
    if (is_over && ended.job_end.exit_code == 0 && !row.torch.empty()) // any program may end with 0
      row.outcome = Outcome::Right;
    else if (verdict.same_failure)
      row.outcome = Outcome::Wrong;
    else if (row.torch.empty())
      row.message = "it cannot import torch, or did not come to its end: " + verdict.message;
    else
      row.message = verdict.message;
    row.same_eager = flag_of(answer, "expected");
    row.same_optimised = flag_of(answer, "found");
    return row;
  }

  const ReproFacts &facts_;
  const std::string &results_;
  const std::function<bool()> &interrupted_;
  const std::string script_;
  std::string reference_; ///< what both sides gave in the first Python
};

/// The numbers of "2.13.0+cpu".
std::vector<int> numbers_of(const std::string &version) {
  std::vector<int> numbers;
  for (const char *at = version.c_str(); *at >= '0' && *at <= '9';) {
    char *end = nullptr;
    numbers.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    at = *end == '.' ? end + 1 : end;
  }
  return numbers;
}

std::string release_of(const std::string &version) {
  return version.substr(0, version.find('+'));
}

std::string listed(const std::vector<VersionRow> &rows, Outcome outcome) {
  std::vector<std::string> words;
  for (const VersionRow &row : rows)
    if (row.outcome == outcome && (words.empty() || words.back() != release_of(row.torch)))
      words.push_back(release_of(row.torch));
  return enumerated(std::move(words));
}

/// The newest right version before the one that was reduced under, else the oldest after it; null if none is right.
const VersionRow *nearest_right(const std::vector<VersionRow> &rows, const VersionRow &own) {
  const VersionRow *nearest = nullptr;
  for (const VersionRow &row : rows) {
    const bool is_before = numbers_of(row.torch) < numbers_of(own.torch);
    if (row.outcome == Outcome::Right && (is_before || !nearest))
      nearest = &row;
  }
  return nearest;
}

/// Which side is not what it is under the version that was reduced under.
std::string who_moved(const VersionRow &right, const VersionRow &own) {
  if (!right.same_eager || !right.same_optimised)
    return "";
  const bool is_before = numbers_of(right.torch) < numbers_of(own.torch);
  const std::string from = release_of(is_before ? right.torch : own.torch);
  const std::string to = release_of(is_before ? own.torch : right.torch);
  const std::string between = " From " + from + " to " + to + " ";
  if (*right.same_eager)
    return between + "the compiled result changed, eager's did not.";
  if (*right.same_optimised)
    return between + "eager's result changed, the compiled one did not.";
  return between + "both results changed.";
}

} // namespace

std::vector<VersionRow> ask_versions(const ReproFacts &facts, const std::string &results, const std::string &python,
                                     const std::vector<std::string> &others, const std::function<bool()> &interrupted) {
  Versions versions(facts, results, interrupted);
  std::vector<VersionRow> rows;
  for (size_t i = 0; i <= others.size(); ++i) {
    VersionRow row = versions.row(i == 0 ? python : others[i - 1]);
    if (interrupted && interrupted())
      break; // what was cut short says nothing
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string versions_sentence(const ReproFacts &facts) {
  if (facts.versions.size() < 2)
    return "";
  std::vector<VersionRow> rows = facts.versions;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const VersionRow &a, const VersionRow &b) { return numbers_of(a.torch) < numbers_of(b.torch); });
  const std::string right = listed(rows, Outcome::Right), wrong = listed(rows, Outcome::Wrong);
  std::string text = right.empty() ? "" : "Right in PyTorch " + right;
  if (!wrong.empty())
    text += (text.empty() ? "Wrong in PyTorch " : ", wrong in ") + wrong;
  if (text.empty())
    return "No other version of PyTorch has an answer.";
  if (const VersionRow *nearest = nearest_right(rows, facts.versions.front()))
    return text + "." + who_moved(*nearest, facts.versions.front());
  return text + ".";
}

bool is_regression(const ReproFacts &facts) {
  return std::any_of(facts.versions.begin(), facts.versions.end(), [&](const VersionRow &row) {
    return row.outcome == Outcome::Right && row.same_eager.value_or(true) &&
           numbers_of(row.torch) < numbers_of(facts.versions.front().torch);
  });
}

} // namespace repro_minify
