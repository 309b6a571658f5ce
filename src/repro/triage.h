// Predicts how PyTorch's triage would treat a report: which labels it gets, and what would have it closed.
#pragma once
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct ProposedLabel {
  std::string label; ///< "module: inductor"
  std::string why;
};
/// `reasons`: of preflight(). What is likely to be closed has no priority.
std::vector<ProposedLabel> proposed_labels(const ReproFacts &facts, const std::vector<std::string> &reasons);

inline bool is_inductor(const ReproFacts &facts) {
  return facts.backend->name() == "inductor";
}

/// True if the backend's code is PyTorch's, so that its tracker is where the report goes.
bool is_part_of_pytorch(const Backend &backend);
/// The contents of issue.md, whatever the form.
struct IssueContents {
  nlohmann::json problem; ///< "sentence" and "why_eager", which are Markdown, and "guilty"
  std::string script, why_no_script, log;
};
/// The form of the tracker of another project; without fields where the report is for PyTorch's.
struct TrackerForm {
  std::string title; ///< what stands before the title
  nlohmann::json fields = nlohmann::json::array();
};
TrackerForm form_of_tracker(const ReproFacts &facts, const IssueContents &contents, const std::string &folder);
/// True if the program that torch.export made is wrong where eager runs it, whatever ran it in the end.
bool is_fault_of_export(const ReproFacts &facts);

/// True if the failure is that of torch.compile: reports about TorchScript alone are not worked on any more.
bool fails_in_inductor(const ReproFacts &facts);

/// Returns whether the reduced program shows a bug or rounding; nothing where its failure is no difference of values.
std::optional<Nature> nature_of_reduced(const ReproFacts &facts);

/// Reasons for which such reports are closed, one sentence each; none: as far as can be told there is none.
std::vector<std::string> preflight(const Program &program, const ReproFacts &facts);

} // namespace repro_minify
