// The labels that PyTorch's triage would set, by its own rubric: pytorch/pytorch, .claude/skills/triaging-issues/, and
// the label descriptions of its tracker.
#include "backends/in_python.h"
#include "repro/triage.h"
#include "repro/workaround.h"

namespace repro_minify {
namespace {

bool has_guilty_decomposition(const ReproFacts &facts) {
  return facts.bisection && facts.bisection->guilty && facts.bisection->kind == StepKind::Decomposition;
}

/// Passes, patterns and lowerings are the same for every device. The code for the CPU is wrong alone where it is right
/// without vectors, or where that code does not do what C++ would have to (an overflow).
bool is_of_the_cpu(const ReproFacts &facts) {
  const bool is_pass = facts.bisection && facts.bisection->guilty && facts.bisection->kind == StepKind::Pass;
  const bool is_scalar_right = fails_under(facts, ablation_names::scalar) == std::optional(false);
  const bool is_overflow = facts.explanation && facts.explanation->kind == "unwrapped";
  return facts.check.device.is_cpu() && !is_pass && (is_scalar_right || is_overflow);
}

/// The first rung of the ladder dynamo, AOTAutograd, TorchInductor that fails.
ProposedLabel label_of_rung(const ReproFacts &facts) {
  if (fails_under(facts, ablation_names::dynamo).value_or(false))
    return {"module: dynamo", "it fails under backend=eager too, where nothing but dynamo is at work"};
  if (fails_under(facts, ablation_names::functionalized).value_or(false))
    return {"module: functionalization", "it fails under torch.func.functionalize alone"};
  if (has_guilty_decomposition(facts))
    return {"module: decompositions", "without one decomposition it is right"};
  if (fails_under(facts, ablation_names::decomposed).value_or(false))
    return {"module: decompositions", "it fails with PyTorch's decompositions alone, without a compiler"};
  const std::optional<bool> before_inductor = fails_under(facts, ablation_names::aot_eager);
  if (before_inductor.value_or(false))
    return {"module: aotdispatch", "it fails under aot_eager too, which generates no code"};
  const std::optional<bool> partitioned = fails_under(facts, ablation_names::partitioned);
  if (partitioned.value_or(false))
    return {"module: decompositions", std::string("it fails under aot_eager_decomp_partition too") +
                                          (before_inductor ? ", and passes under aot_eager" : "")};
  if (partitioned)
    return {"module: inductor", "it fails under inductor, and passes under aot_eager_decomp_partition"};
  return {"module: inductor", before_inductor ? "it fails under inductor, and passes under aot_eager"
                                              : "it fails under inductor, and is not known to fail before it"};
}

ProposedLabel label_of_torchscript(const ReproFacts &facts) {
  const bool alone = fails_under(facts, ablation_names::inductor) == std::optional(false);
  return {"oncall: jit",
          alone ? "only TorchScript is wrong" : "TorchScript is wrong; whether inductor is too is not known"};
}

} // namespace

bool is_part_of_pytorch(const Backend &backend) {
  const std::string name = backend.name();
  if (const OwnTracker *own = backend.parts().tracker; own && !own->tracker().is_null())
    return own->tracker().at("tracker").value("project", "") == "pytorch";
  return name != "inductor-like" && !name.starts_with("plugin:") && !name.starts_with("command:");
}

bool fails_in_inductor(const ReproFacts &facts) {
  const std::string name = facts.backend->name();
  return name == "inductor" || name.starts_with("torch-compile:") ||
         fails_under(facts, ablation_names::inductor).value_or(false);
}

std::vector<ProposedLabel> proposed_labels(const ReproFacts &facts) {
  const FailureKind kind = facts.signature.kind;
  const bool is_silent = is_comparison(kind);
  std::vector<ProposedLabel> labels;
  if (is_fault_of_export(facts)) {
    labels.push_back({"oncall: export", "what torch.export makes is wrong where eager runs it"});
  } else if (const std::string part = faulty_part_of_pytorch(facts); !part.empty()) {
    const std::string tracker = tracker_of_converter(facts);
    if (const auto comma = tracker.find(", "); comma != std::string::npos)
      labels.push_back({tracker.substr(comma + 2), "what " + part + " makes is wrong before it is run"});
  } else if (fails_in_inductor(facts)) {
    labels.push_back({"oncall: pt2", "it fails under torch.compile"});
    if (is_inductor(facts) || fails_under(facts, ablation_names::inductor).value_or(false))
      labels.push_back(label_of_rung(facts));
    if (labels.back().label == "module: inductor" && is_of_the_cpu(facts))
      labels.push_back({"oncall: cpu inductor", "the code for the CPU is wrong"});
  } else if (facts.backend->parts().tracker && is_part_of_pytorch(*facts.backend)) {
    labels.push_back({"oncall: pt2", "it fails under AOTInductor"});
    labels.push_back({"module: aotinductor", "it is not known to fail elsewhere"});
  } else if (is_part_of_pytorch(*facts.backend)) {
    labels.push_back(label_of_torchscript(facts));
  } else {
    return {};
  }
  if (is_silent)
    labels.push_back({"module: correctness (silent)", "nothing is raised, and the result is wrong"});
  if (is_regression(facts))
    labels.push_back({"module: regression", "an earlier version is right, and eager is not known to differ there"});
  if (kind == FailureKind::Crash)
    labels.push_back({"module: crash", "the process ends"});
  return labels;
}

} // namespace repro_minify
