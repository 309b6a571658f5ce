#include "repro/code.h"

#include "core/text.h"
#include "program/values.h"
#include "repro/shown_value.h"

#include <dtl/dtl.hpp>

namespace repro_minify {
namespace {

/// Small values in full: a passing program may differ from the failing one in nothing else.
std::string value_text(const c10::IValue &value) {
  const std::string text = value.isTensor() ? elements_text(value.toTensor()) : "";
  return text.empty() ? "" : " = " + text;
}

std::vector<std::string> lines_of(const Program &program) {
  std::string all;
  for (const auto &piece : code_pieces(program))
    all += piece.text;
  std::vector<std::string> lines;
  for (const std::string &line : split_lines(all))
    if (!line.empty())
      lines.push_back(line);
  for (const auto &input : program.inputs)
    lines.push_back(std::string(to_string(input.role)) + " " + input.name + ": " + describe(input.value) +
                    value_text(input.value));
  return lines;
}

} // namespace

json difference_json(const Program &failing, const Program &passing) {
  dtl::Diff<std::string> difference(lines_of(failing), lines_of(passing));
  difference.compose();
  json rows = json::array();
  for (const auto &[line, about] : difference.getSes().getSequence()) {
    const bool is_failing = about.type == dtl::SES_DELETE, is_passing = about.type == dtl::SES_ADD;
    rows.push_back({{"where", is_failing   ? "failing"
                              : is_passing ? "passing"
                                           : "both"},
                    {"sign", is_failing   ? "\u2212"
                             : is_passing ? "+"
                                          : " "},
                    {"text", line}});
  }
  return rows;
}

} // namespace repro_minify
