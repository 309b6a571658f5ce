#include "core/escape.h"
#include "core/text.h"
#include "repro/triage.h"

#include <nlohmann/json.hpp>

namespace repro_minify {
namespace {

using nlohmann::json;
using Origin = GeneratedCode::Origin;

constexpr const char *pass_kind = "pass";

std::optional<Origin> guilty_pass(const GeneratedCode &generated) {
  for (const Origin &origin : generated.origins)
    if (origin.kind == pass_kind)
      return origin;
  return std::nullopt;
}

/// "aten.round.decimals"; "aten.sinh" for aten.sinh.default.
std::string operator_of(const Origin &origin) {
  constexpr std::string_view plain = ".default";
  const std::string &name = origin.operator_name;
  return name.ends_with(plain) ? name.substr(0, name.size() - plain.size()) : name;
}

/// "`CppVecOverrides.sinh`, `torch/_inductor/codegen/cpp.py:1503`".
std::string place(const Origin &origin) {
  return markdown_code(origin.function) + ", " + markdown_code(origin.file + ":" + std::to_string(origin.line));
}

/// Says of each operator where it is made; of those that explain the failure alone, where that is known.
std::string places_in(const ReproFacts &facts) {
  const std::vector<Origin> explained = explained_origins(facts);
  std::vector<std::string> places;
  for (const Origin &origin : explained.empty() ? facts.generated->origins : explained)
    if (origin.kind != pass_kind)
      places.push_back(markdown_code(operator_of(origin)) + ": " + place(origin));
  return joined(places, "; ");
}

/// The decompositions that are to blame: the guilty one where it is known by name.
std::vector<Origin> guilty_decompositions(const ReproFacts &facts) {
  std::vector<Origin> all, named;
  for (const Origin &origin : facts.generated->origins)
    if (origin.kind == "decomposition") {
      all.push_back(origin);
      if (facts.bisection && operator_of(origin) == "aten." + facts.bisection->name)
        named.push_back(origin);
    }
  return named.empty() ? all : named;
}

bool is_decompositions_fault(const ReproFacts &facts) {
  return fails_under(facts, ablation_names::partitioned).value_or(false) ||
         (facts.bisection && facts.bisection->kind == StepKind::Decomposition);
}

/// True where TorchInductor is given what is wrong already.
bool begins_before_inductor(const ReproFacts &facts) {
  return fails_under(facts, ablation_names::dynamo).value_or(false) ||
         fails_under(facts, ablation_names::aot_eager).value_or(false);
}

json block(const std::string &heading, const std::string &language, const std::string &code) {
  json values = {{"heading", heading}};
  if (!code.empty())
    values[language == "cpp" ? "cpp_code" : "python_code"] = {{"code", code}};
  return values;
}

} // namespace

std::vector<Origin> explained_origins(const ReproFacts &facts) {
  std::vector<Origin> found;
  if (!facts.explanation || !facts.generated)
    return found;
  for (const Origin &origin : facts.generated->origins) {
    const std::string &name = origin.operator_name;
    const size_t first = name.find('.'), last = name.rfind('.');
    const bool has_overload = first != std::string::npos && first != last;
    if (has_overload &&
        facts.explanation->call.find(name.substr(first, last - first) + "(") != std::string::npos) // ".abs("
      found.push_back(origin);
  }
  return found;
}

json generated_code_json(const ReproFacts &facts) {
  json blocks = json::array();
  if (!facts.generated || !is_inductor(facts) || begins_before_inductor(facts))
    return blocks;
  const GeneratedCode &generated = *facts.generated;
  if (is_decompositions_fault(facts)) {
    for (const Origin &origin : guilty_decompositions(facts))
      blocks.push_back(block("The decomposition of " + markdown_code(operator_of(origin)) + " (" + place(origin) + ")" +
                                 (origin.source.empty() ? "." : ":"),
                             "python", origin.source));
    return blocks;
  }
  if (const auto pass = guilty_pass(generated))
    blocks.push_back(block("The pass: " + place(*pass) + ".", "python", ""));
  const std::string places = places_in(facts);
  if (!generated.code.empty())
    blocks.push_back(
        block("What TorchInductor generates, without braces" + (places.empty() ? ":" : " (" + places + "):"),
              generated.language, generated.code));
  else if (!places.empty())
    blocks.push_back(block("Where TorchInductor makes it: " + places + ".", "python", ""));
  return blocks;
}

} // namespace repro_minify
