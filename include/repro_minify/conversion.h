// The origin of a model that was converted from another form.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// One graph of it, in a file of ours.
struct Conversion {
  std::string given; ///< the path that the user named
  std::string kind;  ///< "a torch.export archive"
  int graph = 1;     ///< which of them this is, from 1
  int graphs = 1;    ///< how many it holds
  std::string name;  ///< of the graph in a log ("0/0", frame and recompilation); else empty

  std::string problem;      ///< why there is no `path`; empty: there is
  std::string path;         ///< an archive of TorchScript, with its inputs inside
  bool keeps_calls = false; ///< its nodes are the calls of torch.fx; else it was traced
  std::string inputs_path;  ///< the inputs alone
  int operators = 0;        ///< of the graph

  std::string data;                         ///< where its inputs come from ("the example inputs inside")
  std::vector<std::string> notes;           ///< what is not as it was, a sentence each
  std::vector<std::string> dynamic;         ///< what was symbolic ("x: dimension 0 (s0, 2 to 1024)")
  std::vector<std::string> inductor_config; ///< KEY=VALUE that it sets of torch._inductor.config

  std::shared_ptr<const void> folder; ///< removed, with the files, once it is no longer needed
};

/// Describes the conversion, for a log and a report: "converted from a torch.export archive, with the example inputs
/// inside; ...".
std::string to_string(const Conversion &conversion);
/// The path as given; of several graphs, which one.
std::string shown_path(const Conversion &conversion);

} // namespace repro_minify
