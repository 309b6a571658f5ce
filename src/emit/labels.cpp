// The labels that PyTorch's triage would set, by its own rubric: pytorch/pytorch, .claude/skills/triaging-issues/, and
// the label descriptions of its tracker.
#include "emit/ablation_names.h"
#include "emit/triage.h"

namespace repro_minify {
namespace {

bool fails_in_inductor(const ReproFacts &facts) {
  return facts.backend->name() == "inductor" || fails_under(facts, ablation_names::inductor).value_or(false);
}

} // namespace

std::vector<ProposedLabel> proposed_labels(const ReproFacts &facts) {
  const FailureKind kind = facts.signature.kind;
  const bool is_silent = is_comparison(kind);
  std::vector<ProposedLabel> labels;
  if (fails_in_inductor(facts)) {
    labels.push_back({"oncall: pt2", "it fails under torch.compile"});
    if (fails_under(facts, ablation_names::aot_eager).value_or(false))
      labels.push_back({"module: pt2-dispatcher", "it fails under aot_eager too, which generates no code"});
    else
      labels.push_back({"module: inductor", "it fails under inductor, and is not known to fail before it"});
  } else {
    const bool alone = fails_under(facts, ablation_names::inductor) == std::optional(false);
    labels.push_back({"oncall: jit", std::string(alone ? "only TorchScript is wrong"
                                                       : "TorchScript is wrong; whether inductor is too is not known") +
                                         "; TorchScript is in maintenance mode, and reports about it alone are being "
                                         "closed"});
  }
  if (is_silent)
    labels.push_back({"module: correctness (silent)", "nothing is raised, and the result is wrong"});
  if (kind == FailureKind::Crash)
    labels.push_back({"module: crash", "the process ends"});
  if (kind == FailureKind::Crash || is_silent)
    labels.push_back({"high priority", "a crash or a silently wrong result"});
  return labels;
}

} // namespace repro_minify
