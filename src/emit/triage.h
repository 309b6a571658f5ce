// What PyTorch's triage would make of a report: which labels it gets, and what would have it closed.
#pragma once
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

struct ProposedLabel {
  std::string label; ///< "module: inductor"
  std::string why;
};
std::vector<ProposedLabel> proposed_labels(const ReproFacts &facts);

/// Reasons for which such reports are closed, one sentence each; none: as far as can be told there is none.
std::vector<std::string> preflight(const Program &program, const ReproFacts &facts);

/// The program as a Mermaid flow chart, the operator whose result is wrong marked; empty above 40 nodes.
std::string mermaid_graph(const Program &program, const ReproFacts &facts);

} // namespace repro_minify
