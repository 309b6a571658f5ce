#include "repro/triage.h"

#include "core/escape.h"
#include "core/text.h"
#include "repro/workaround.h"

#include <algorithm>

namespace repro_minify {
namespace {

/// "is right", of a result; "passes", of a program that raises elsewhere.
std::string is_right(const ReproFacts &facts) {
  return is_comparison(facts.signature.kind) ? "is right" : "passes";
}

/// Where on the way from Dynamo over AOTAutograd to TorchInductor the failure begins.
std::string begins_at(const ReproFacts &facts) {
  const std::string right = is_right(facts);
  if (fails_under(facts, ablation_names::dynamo).value_or(false))
    return "It fails with `backend=\"eager\"` too, where nothing but Dynamo is at work.";
  const std::optional<bool> aot = fails_under(facts, ablation_names::aot_eager);
  if (aot.value_or(false))
    return std::string("It fails with `backend=\"aot_eager\"` too") +
           (fails_under(facts, ablation_names::functionalized).value_or(false)
                ? ", and under `torch.func.functionalize` alone"
            : fails_under(facts, ablation_names::decomposed).value_or(false)
                ? ", and with PyTorch's decompositions alone"
                : "") +
           (fails_under(facts, ablation_names::dynamo) ? "; `backend=\"eager\"` " + right + "." : ".");
  const std::optional<bool> partitioned = fails_under(facts, ablation_names::partitioned);
  if (partitioned.value_or(false))
    return "It fails with `backend=\"aot_eager_decomp_partition\"` too" +
           (aot ? "; `backend=\"aot_eager\"` " + right + "." : ".");
  if (partitioned)
    return "`backend=\"aot_eager_decomp_partition\"` " + right + ", so the fault is in TorchInductor.";
  return aot ? "`backend=\"aot_eager\"` " + right + "." : "";
}

/// Says what is known of torch.compile where the failure is another backend's.
std::string of_torch_compile(const ReproFacts &facts) {
  const std::optional<bool> fails = fails_under(facts, ablation_names::inductor);
  return !fails   ? ""
         : *fails ? "`torch.compile` fails too. " + begins_at(facts)
                  : "`torch.compile` " + is_right(facts) + ".";
}

/// The step without which it is gone. A rung of the ladder is said by begins_at().
std::string of_guilty_step(const ReproFacts &facts) {
  if (!facts.bisection || !facts.bisection->guilty)
    return "";
  const std::string &step = *facts.bisection->guilty;
  const StepKind kind = facts.bisection->kind;
  if (kind == StepKind::Compiler)
    return "";
  if (!is_inductor(facts) || !facts.bisection->confirmed)
    return markdown_text(bisection_sentence(facts));
  const std::string name = markdown_code(facts.bisection->name.empty() ? step : facts.bisection->name);
  const std::string gone = " it " + is_right(facts) + ".";
  // It may be another operator's than the one that is explained; the code is shown where there is little of it.
  if (kind == StepKind::Lowering && (facts.explanation || (facts.generated && !facts.generated->code.empty())))
    return "";
  if (kind == StepKind::Lowering) // which ends fusion there too
    return "A fallback in place of TorchInductor's lowering of " + name +
           ", with which nothing is fused there, hides it.";
  if (kind == StepKind::Setting)
    return "With " + markdown_code(facts.bisection->setting) + gone;
  return (kind == StepKind::Decomposition ? "Without the decomposition of " : "Without ") + name + gone;
}

/// TorchInductor promises eager's numbers in its strict mode. A wrong value needs no such proof.
std::string of_strict_mode(const ReproFacts &facts) {
  const std::optional<Nature> nature = nature_of_reduced(facts);
  const bool is_plain = nature && nature->kind == Nature::Kind::WrongValue;
  return fails_under(facts, ablation_names::strict).value_or(false) && !is_plain
             ? "It fails with `numerics=\"strict\"` too, where TorchInductor promises eager's numbers."
             : "";
}

/// The settings of TorchInductor under which it is gone.
std::string of_settings(const ReproFacts &facts) {
  std::vector<std::string> gone;
  for (const AblationRow &row : facts.ablation)
    if (!row.setting.empty() && !row.fails.value_or(true))
      gone.push_back(markdown_code(row.setting));
  const bool is_scalar = gone == std::vector{markdown_code("cpp.simdlen=1")};
  const std::string what = is_scalar ? ", which switches vectorised code off," : "";
  return gone.empty() ? "" : "With " + joined(gone) + what + " it " + is_right(facts) + ".";
}

/// False where other dtypes tell a reader nothing: the order of writes is wrong whatever their values are, what
/// overflows in one dtype does not in a wider one, and an exception that every dtype raises is not of the dtype.
bool hangs_on_dtypes(const ReproFacts &facts) {
  const auto &cases = facts.conditions.cases;
  const bool is_right_somewhere = std::any_of(cases.begin(), cases.end(), [](const auto &each) { return !each.fails; });
  if (!facts.explanation)
    return is_comparison(facts.signature.kind) || is_right_somewhere;
  return !is_of_order(*facts.explanation) && facts.explanation->kind != "unwrapped";
}

} // namespace

std::string nature_sentence(const ReproFacts &facts) {
  const std::optional<Nature> nature = nature_of_reduced(facts);
  if (!nature)
    return "";
  std::string words = to_string(*nature);
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return " " + markdown_text(words) + ".";
}

std::string evidence(const Program &program, const ReproFacts &facts) {
  std::vector<std::string> parts;
  const bool raises = !is_comparison(facts.signature.kind); // what, stands in the title and in the log
  if (!facts.explanation && !raises)
    parts.push_back(sentence(program, facts));
  const std::string begins = is_inductor(facts) ? begins_at(facts) : of_torch_compile(facts);
  const std::string conditions = hangs_on_dtypes(facts) ? conditions_sentence(facts.conditions) : "";
  for (const std::string &part :
       {explanation_sentence(facts), std::string(facts.conditions.is_numpys ? "NumPy gives what eager gives." : ""),
        raises ? begins : conditions, raises ? conditions : begins, of_settings(facts), of_guilty_step(facts),
        of_strict_mode(facts), markdown_text(versions_sentence(facts))})
    if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end()) // a guilty setting is one of them
      parts.push_back(part);
  std::string text = parts.empty() ? sentence(program, facts) : joined(parts, " ");
  const std::optional<Nature> nature = nature_of_reduced(facts);
  if (nature && nature->kind != Nature::Kind::WrongValue)
    text += nature_sentence(facts);
  return text;
}

} // namespace repro_minify
