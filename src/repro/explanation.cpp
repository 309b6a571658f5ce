#include "repro/workaround.h"

#include "backends/backend_parts.h"
#include "backends/in_python.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/text.h"
#include "program/compute.h"
#include "repro/repro_py.h"
#include "repro/torchscript_source.h"
#include "repro/triage.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/run_settings.h"

#include <ATen/core/grad_mode.h>

namespace repro_minify {
namespace {

/// "torch.float32" as "float32".
std::string plain_dtype(const std::string &name) {
  constexpr std::string_view module = "torch.";
  return name.starts_with(module) ? name.substr(module.size()) : name;
}

bool is_of_gradients(const ReproFacts &facts) {
  return facts.signature.where == "gradient";
}

/// C++ computes with int where a type is narrower.
bool is_promoted_in_cpp(const std::string &dtype) {
  return dtype == "torch.int8" || dtype == "torch.uint8" || dtype == "torch.int16";
}

/// Returns what C++ has to do with it, where that is known, as a sentence with a space before it.
std::string reason_in_cpp(const ReproFacts &facts) {
  if (facts.explanation->kind != "unwrapped" || !facts.generated || facts.generated->language != "cpp")
    return "";
  return is_promoted_in_cpp(facts.explanation->other) ? " C++ promotes it to `int`."
                                                      : " C++ does not define the overflow of signed integers.";
}

void add_origins(std::vector<GeneratedCode::Origin> &origins, const json &list) {
  for (const json &origin : list)
    origins.push_back({origin.at("operator"), origin.at("kind"), origin.at("function"), origin.at("file"),
                       origin.at("line"), origin.at("source")});
}

GeneratedCode generated_code_of(const json &parts) {
  GeneratedCode code{parts.at("language"), parts.at("code"), parts.at("calls"), {}};
  add_origins(code.origins, parts.at("origins"));
  return code;
}

Conditions conditions_of(const json &answer) {
  Conditions conditions{answer.at("dtype"), {}, {}, answer.at("is_numpys")};
  if (const json &sizes = answer.at("sizes"); !sizes.is_null())
    conditions.sizes = sizes.get<std::vector<std::int64_t>>();
  for (const json &each : answer.at("cases"))
    conditions.cases.push_back({each.at("what"), each.at("kind"), each.at("fails")});
  return conditions;
}

std::string clause(const Explanation &change) {
  const std::string call = markdown_code(change.call), other = markdown_code(change.other);
  if (change.kind == "detached")
    return call + " does not require grad";
  if (change.kind == "left out")
    return call + " is left out";
  if (change.kind == "before" || change.kind == "after")
    return call + " runs " + change.kind + " " + other;
  if (change.kind == "sees itself")
    return call + " reads elements that it has written already";
  if (change.kind == "divides by")
    return call + " divides by " + change.other + " everywhere";
  if (change.kind == "with")
    return call + " is computed with " + other;
  if (change.kind == "without")
    return other + " is ignored by " + call;
  if (change.kind == "as")
    return call + " is computed as " + other;
  if (change.kind == "unwrapped" && is_promoted_in_cpp(change.other))
    return call + " is not wrapped to " + plain_dtype(change.other);
  if (change.kind == "unwrapped")
    return call + " overflows " + plain_dtype(change.other) + " and does not wrap";
  return (change.call.empty() ? "all of it" : call) + " is computed and kept in " + plain_dtype(change.other);
}

using Case = Conditions::Case;

std::vector<std::string> names_of(const Conditions &conditions, const std::string &kind, bool fail) {
  std::vector<std::string> names;
  for (const Case &each : conditions.cases)
    if (each.kind == kind && each.fails == fail)
      names.push_back(kind == "dtype" ? markdown_code(each.what) : each.what);
  return names;
}

/// True if cases of this kind were asked, so many at least, and all are right.
bool all_right(const Conditions &conditions, const std::string &kind, size_t least) {
  return names_of(conditions, kind, true).empty() && names_of(conditions, kind, false).size() >= least;
}

constexpr size_t least_dtypes = 2; // that are right, before one is named as the only one that is not

} // namespace

void find_explanation(const Program &program, ReproFacts &facts, const Limits &limits) {
  const ReproInPython *python = facts.backend->parts().repro_in_python;
  if (!python || !(is_comparison(facts.signature.kind) || facts.signature.kind == FailureKind::Exception))
    return;
  const JobEnd job_end = run_in_sandbox(
      [&](Child &child) {
        child.confine(confinement_of(*facts.backend));
        const RunScope scope(run_settings(*facts.backend, facts.check));
        // Where gradients do not fail, an input that asks for one may be written to.
        const at::AutoGradMode grad(is_of_gradients(facts));
        child.reply(python->explanation(constants_as_buffers(program), facts_for_python(facts)).dump());
      },
      limits);
  require_reply(job_end);
  const json answer = json::parse(job_end.reply);
  const auto explains = [&](const json &change) { // no arithmetic that does not wrap gives another dtype
    return !change.is_null() && !(facts.signature.kind == FailureKind::Dtype && change.at("kind") == "unwrapped");
  };
  if (const json &change = answer.at("change"); explains(change))
    facts.explanation = Explanation{change.at("kind"), change.at("call"), change.at("other"), change.at("operator")};
  facts.conditions = conditions_of(answer);
  if (const json &generated = answer.at("generated"); !generated.is_null())
    facts.generated = generated_code_of(generated);
  if (const json &decompositions = answer.at("decompositions"); !decompositions.empty()) {
    if (!facts.generated)
      facts.generated.emplace();
    add_origins(facts.generated->origins, decompositions);
  }
}

bool is_of_order(const Explanation &explanation) {
  const std::string &kind = explanation.kind;
  return kind == "before" || kind == "after" || kind == "left out" || kind == "sees itself";
}

std::string explanation_clause(const ReproFacts &facts) {
  if (!facts.explanation)
    return "";
  const bool is_of_backward = is_of_gradients(facts) && facts.explanation->kind != "detached";
  return (is_of_backward ? "backward, " : "") + clause(*facts.explanation);
}

std::string explanation_sentence(const ReproFacts &facts) {
  if (!facts.explanation)
    return "";
  if (facts.explanation->kind == "detached")
    return "In the compiled result " + clause(*facts.explanation) + ".";
  const std::string what = is_of_gradients(facts) ? "gradient" : "result";
  return "Eager gives the same wrong " + what + " if " + clause(*facts.explanation) + "." + reason_in_cpp(facts);
}

std::string enumerated(std::vector<std::string> words) {
  if (words.size() < 2)
    return joined(words);
  const std::string last = words.back();
  words.pop_back();
  return joined(words) + " and " + last;
}

std::string conditions_sentence(const Conditions &conditions) {
  const std::string fail = enumerated(names_of(conditions, "dtype", true));
  std::vector<std::string> right;
  if (const std::string dtypes = enumerated(names_of(conditions, "dtype", false)); !dtypes.empty())
    right.push_back("for " + dtypes);
  if (const std::string ranks = enumerated(names_of(conditions, "rank", false)); !ranks.empty())
    right.push_back("for " + ranks + " inputs");
  if (const std::string longer = enumerated(names_of(conditions, "size", false)); !longer.empty())
    right.push_back("where " + longer + " of the inputs is three times as long");
  const std::string same = "With the same values ";
  if (fail.empty())
    return right.empty() ? "" : same + "it is right " + enumerated(right) + ".";
  if (right.empty())
    return same + "it fails for " + fail + " too.";
  return same + "it fails for " + fail + " too; it is right " + enumerated(right) + ".";
}

std::string condition_in_title(const Conditions &conditions) {
  const bool of_dtype = all_right(conditions, "dtype", least_dtypes), of_rank = all_right(conditions, "rank", 1);
  const bool of_sizes = conditions.sizes && all_right(conditions, "size", 1);
  const std::string dtype = of_dtype ? conditions.dtype : "";
  if (of_sizes)
    return (of_dtype ? dtype : "shape ") + "[" + joined_numbers(*conditions.sizes) + "]";
  if (of_rank)
    return "a 0-d " + (of_dtype ? dtype + " " : std::string()) + "tensor";
  return dtype;
}

} // namespace repro_minify
