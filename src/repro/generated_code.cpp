#include "core/escape.h"
#include "core/json.h"
#include "core/text.h"
#include "repro/triage.h"
#include "repro/workaround.h"

#include <algorithm>

namespace repro_minify {
namespace {

using Origin = GeneratedCode::Origin;

constexpr const char *pass_kind = "pass", *decomposition = "decomposition";
/// For AOTAutograd, before TorchInductor decomposes further.
constexpr const char *core_decomposition = "core decomposition";

std::optional<Origin> guilty_pass(const GeneratedCode &generated) {
  for (const Origin &origin : generated.origins)
    if (origin.kind == pass_kind)
      return origin;
  return std::nullopt;
}

/// Code of more lines is folded.
constexpr auto most_open_lines = 24;

bool is_backward(const Origin &origin) {
  return origin.operator_name.find("_backward.") != std::string::npos;
}

/// Returns "avg_pool2d" for aten.avg_pool2d_backward.default; empty for what has no overload.
std::string called_by(const Origin &origin) {
  constexpr std::string_view backward = "_backward";
  const std::string &name = origin.operator_name;
  const size_t first = name.find('.'), last = name.rfind('.');
  if (first == std::string::npos || first == last)
    return "";
  std::string base = name.substr(first + 1, last - first - 1);
  if (base.ends_with(backward))
    base.erase(base.size() - backward.size());
  return base;
}

/// Returns the name without the overload that most have: "aten.sinh" for aten.sinh.default.
std::string operator_of(const Origin &origin) {
  constexpr std::string_view plain = ".default";
  const std::string &name = origin.operator_name;
  return name.ends_with(plain) ? name.substr(0, name.size() - plain.size()) : name;
}

/// Returns where PyTorch has it: "`CppVecOverrides.sinh`, `torch/_inductor/codegen/cpp.py:1503`".
std::string place(const Origin &origin) {
  return markdown_code(origin.function) + ", " + markdown_code(origin.file + ":" + std::to_string(origin.line));
}

/// For the order of writes no operator's code is to blame.
bool is_of_order(const ReproFacts &facts) {
  return facts.explanation && is_of_order(*facts.explanation);
}

/// Returns the origins of the operator whose lowering is guilty, or all where that is not known.
std::vector<Origin> guilty_lowerings(const ReproFacts &facts) {
  std::vector<Origin> guilty;
  if (facts.bisection && facts.bisection->kind == StepKind::Lowering)
    for (const Origin &origin : facts.generated->origins)
      if (origin.operator_name == whole_operator_name(facts.bisection->name))
        guilty.push_back(origin);
  return guilty.empty() ? facts.generated->origins : guilty;
}

/// Says of each operator where its code is made; of those that explain the failure alone, where that is known.
std::string places_in(const ReproFacts &facts) {
  const auto makes_code = [](const Origin &origin) {
    return origin.kind != pass_kind && origin.kind != decomposition && origin.kind != core_decomposition;
  };
  std::vector<Origin> blamed = explained_origins(facts);
  if (std::none_of(blamed.begin(), blamed.end(), makes_code))
    blamed = guilty_lowerings(facts);
  std::vector<std::string> places;
  for (const Origin &origin : blamed)
    if (makes_code(origin) && !is_of_order(facts))
      places.push_back(markdown_code(operator_of(origin)) + ": " + place(origin));
  return joined(places, "; ");
}

/// The decompositions that are to blame: the guilty one where it is known by name.
std::vector<Origin> guilty_decompositions(const ReproFacts &facts) {
  std::vector<Origin> all, named;
  for (const Origin &origin : facts.generated->origins)
    if (origin.kind == decomposition) {
      all.push_back(origin);
      if (facts.bisection && origin.operator_name == whole_operator_name(facts.bisection->name))
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

json block(const std::string &heading) {
  return {{"heading", heading}};
}

void add_code(json &values, const std::string &language, const std::string &code) {
  if (!code.empty())
    values[language == "cpp" ? "cpp_code" : "python_code"] = {{"code", code}};
}

json decomposition_block(const Origin &origin) {
  json values = block("The decomposition of " + markdown_code(operator_of(origin)) + " (" + place(origin) + ")" +
                      (origin.source.empty() ? "." : ":"));
  add_code(values, "python", origin.source);
  return values;
}

/// The statements of the kernels, below what calls them.
json block_of_kernels(const std::string &heading, const GeneratedCode &generated) {
  json values = block(heading);
  if (generated.language == "cpp")
    add_code(values, "python", generated.calls);
  add_code(values, generated.language, generated.code.empty() ? generated.calls : generated.code);
  const std::string all = generated.code + generated.calls;
  const auto lines = std::count(all.begin(), all.end(), '\n') + 1;
  if (lines > most_open_lines)
    values["folded"] = {{"lines", lines}};
  return values;
}

} // namespace

std::vector<Origin> explained_origins(const ReproFacts &facts) {
  std::vector<Origin> found;
  if (!facts.explanation || !facts.generated)
    return found;
  for (const Origin &origin : facts.generated->origins)
    if (const std::string name = called_by(origin); !name.empty() && name == facts.explanation->operator_name)
      found.push_back(origin);
  if (facts.signature.where == "gradient" && std::any_of(found.begin(), found.end(), is_backward))
    std::erase_if(found, [](const Origin &origin) { return !is_backward(origin); });
  return found;
}

json generated_code_json(const ReproFacts &facts) {
  json blocks = json::array();
  const bool is_of_history = facts.explanation && facts.explanation->kind == "detached"; // which no kernel has
  if (!facts.generated || !is_inductor(facts) || is_of_history)
    return blocks;
  if (begins_before_inductor(facts)) {
    if (fails_under(facts, ablation_names::decomposed).value_or(false))
      for (const Origin &origin : facts.generated->origins)
        if (origin.kind == core_decomposition)
          blocks.push_back(decomposition_block(origin));
    return blocks;
  }
  const GeneratedCode &generated = *facts.generated;
  if (is_decompositions_fault(facts)) {
    for (const Origin &origin : guilty_decompositions(facts))
      blocks.push_back(decomposition_block(origin));
    return blocks;
  }
  if (const auto pass = guilty_pass(generated))
    blocks.push_back(block("The pass: " + place(*pass) + "."));
  const std::string places = places_in(facts);
  if (!generated.code.empty() || !generated.calls.empty())
    blocks.push_back(block_of_kernels(
        "What TorchInductor generates, without braces" + (places.empty() ? ":" : " (" + places + "):"), generated));
  else if (!places.empty())
    blocks.push_back(block("Where TorchInductor makes it: " + places + "."));
  return blocks;
}

} // namespace repro_minify
