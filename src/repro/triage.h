// Predicts how PyTorch's triage would treat a report: which labels it gets, and what would have it closed.
#pragma once
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

struct ProposedLabel {
  std::string label; ///< "module: inductor"
  std::string why;
};
/// `reasons`: of preflight(). What is likely to be closed has no priority.
std::vector<ProposedLabel> proposed_labels(const ReproFacts &facts, const std::vector<std::string> &reasons);

/// The headings of the tracker that a report about a backend goes to.
struct IssueForm {
  const char *bug, *logs, *versions;
};
IssueForm issue_form(const Backend &backend);

/// True if the backend's code is PyTorch's, so that its tracker is where the report goes.
bool is_part_of_pytorch(const Backend &backend);
/// True if the failure is that of torch.compile: reports about TorchScript alone are not worked on any more.
bool fails_in_inductor(const ReproFacts &facts);

/// Reasons for which such reports are closed, one sentence each; none: as far as can be told there is none.
std::vector<std::string> preflight(const Program &program, const ReproFacts &facts);

} // namespace repro_minify
