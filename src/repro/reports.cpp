// report.json for scripts, report.md for an issue tracker, and what both say.
#include "repro/reported.h"

#include "backends/in_python.h"
#include "program/python_call.h"
#include "repro/code.h"
#include "repro/render.h"
#include "repro/results_folder.h"
#include "repro/torchscript_source.h"

#include <cctype>

namespace repro_minify {

namespace {

/// Markdown, for a cell of a table: a bar would end it, also between the marks of code.
std::string in_cell(const json &markdown) {
  std::string text;
  for (const char c : markdown.get<std::string>())
    text += c == '|' ? "\\|" : std::string(1, c);
  return text;
}

} // namespace

bool is_verified(const ReproFacts &facts) {
  return facts.verified.value_or(false) || facts.script.verified.value_or(false);
}

bool has_issue(const ReproFacts &facts) {
  return facts.signature.kind != FailureKind::Interesting;
}

bool has_cpp(const ReproFacts &facts) {
  const ReproInPython *in_python = facts.backend->parts().repro_in_python;
  return has_issue(facts) && (!in_python || in_python->is_loaded_by_cpp());
}

std::string program_text(const Program &program) {
  if (calls_python(*program.graph))
    return fx_source(program);
  try {
    return torchscript_source(program);
  } catch (const std::exception &) {
    return program.graph->toString(false);
  }
}

json simplifications_json() {
  json list = json::array();
  for (const auto &pass : list_reduction_passes())
    list.push_back({{"pass", pass.name}, {"what", pass.summary}});
  return list;
}

std::string bisection_sentence(const ReproFacts &facts) {
  if (!facts.bisection)
    return "";
  std::string sentence = facts.bisection->message + ".";
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

std::string to_string(const OtherBackend &other) {
  switch (other.verdict.outcome) {
  case Verdict::Outcome::Pass:
    return "does not fail";
  case Verdict::Outcome::Unresolved:
    return "cannot be checked: " + other.verdict.message;
  case Verdict::Outcome::Fail:
    break;
  }
  return other.same_signature ? "fails too, with the same signature"
                              : "fails too, with another signature: " + to_string(other.verdict.signatures.front());
}

void write_reports(const Program &program, const ReproFacts &facts, const std::string &folder) {
  write_atomically(folder + "/report.json",
                   report_json(program, facts, folder).dump(2, ' ', true, json::error_handler_t::replace) + "\n");
  json values = report_values(program, facts, folder);
  for (const char *sentence : {"explanation", "workaround"})
    values[sentence] = in_cell(values.at(sentence));
  write_atomically(folder + "/report.md", render("report.md.tpl", values));
}

} // namespace repro_minify
