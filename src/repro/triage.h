// Predicts how PyTorch's triage would treat a report: which labels it gets, and what would have it closed.
#pragma once
#include "core/json.h"
#include "repro_minify/repro.h"

#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct ProposedLabel {
  std::string label; ///< "module: inductor"
  std::string why;
};
/// Those that PyTorch's triage sets by itself, "high priority" among them, are not proposed.
std::vector<ProposedLabel> proposed_labels(const ReproFacts &facts);

inline bool is_inductor(const ReproFacts &facts) {
  return facts.backend->name() == "inductor";
}

/// True if the backend's code is PyTorch's.
bool is_part_of_pytorch(const Backend &backend);
/// True if the report goes to PyTorch's tracker: the backend, or the part that is wrong, is PyTorch's.
bool is_for_pytorch(const ReproFacts &facts);
/// The contents of issue.md, whatever the form.
struct IssueContents {
  json problem; ///< "sentence" and "why_eager", which are Markdown, and "guilty"
  std::string script, why_no_script, log;
};
/// The form of the tracker of another project; without fields where the report is for PyTorch's.
struct TrackerForm {
  std::string title; ///< what stands before the title
  json fields = json::array();
};
TrackerForm form_of_tracker(const ReproFacts &facts, const IssueContents &contents, const std::string &folder);
/// The part of PyTorch that is wrong where the runtime of another project only shows it: "torch.export", whose program
/// is wrong where eager runs it, or a converter that belongs to PyTorch, such as "torch.onnx.export". Empty: none.
std::string faulty_part_of_pytorch(const ReproFacts &facts);
/// True if that is torch.export, whatever ran the program in the end.
bool is_fault_of_export(const ReproFacts &facts);
/// Where the failures of the recipe's converter belong, as the recipe says it: the address of a tracker, and behind a
/// comma the label there.
std::string tracker_of_converter(const ReproFacts &facts);

/// True if the failure is that of torch.compile: reports about TorchScript alone are not worked on any more.
bool fails_in_inductor(const ReproFacts &facts);

/// Returns whether the reduced program shows a bug or rounding; nothing where its failure is no difference of values.
std::optional<Nature> nature_of_reduced(const ReproFacts &facts);

/// Reasons for which such reports are closed, one sentence each; none: as far as can be told there is none.
std::vector<std::string> preflight(const Program &program, const ReproFacts &facts);

// Rows of the ablation that more than a reader looks at.

namespace ablation_names {

constexpr const char *inductor = "inductor";
constexpr const char *dynamo = "torch.compile, backend=eager";
constexpr const char *aot_eager = "torch.compile, backend=aot_eager";
constexpr const char *partitioned = "torch.compile, backend=aot_eager_decomp_partition";
constexpr const char *functionalized = "torch.func.functionalize alone";
constexpr const char *decomposed = "decompositions alone";
// Settings of TorchInductor.
constexpr const char *emulated = "emulate_precision_casts=True";
constexpr const char *scalar = "cpp.simdlen=1";
constexpr const char *dynamic = "dynamic=True";
constexpr const char *strict = "numerics=strict"; // from PyTorch 2.15 on

} // namespace ablation_names

/// Returns true if the row of that name, or of that setting, failed in the same way, and false if it did not; nothing
/// if there is no such row, it has no answer, or it has another failure.
std::optional<bool> fails_under(const ReproFacts &facts, const std::string &what);
bool has_row(const ReproFacts &facts, const std::string &what);

// The first lines of issue.md: under what else it fails, and without what it is right.

/// Markdown, one paragraph: the rung of torch.compile's ladder where the failure begins, the step without which it is
/// gone, the settings that change something. Where nothing of that is known: what is wrong, in a sentence.
std::string evidence(const Program &program, const ReproFacts &facts);

/// "Wrong value: off by 8 units in the last place ...", with a space before it; empty where the failure is no
/// difference of values.
std::string nature_sentence(const ReproFacts &facts);

// The sentence that a report begins with, its title too.

/// "torch.compile: `x.unfold(0, 2, 1).neg_()` gives 1 at [0], expected -1 (functionalization)": what, on what, found,
/// expected, whose fault. `call` names the program; empty: its operators are listed.
std::string headline(const Program &program, const ReproFacts &facts, const std::string &call = "");

/// The same as a sentence of Markdown.
std::string sentence(const Program &program, const ReproFacts &facts);

/// The expected value and the one found, each in few words: {"-0.2934", "1.541"}. Empty texts where the failure is of
/// another kind.
struct BothValues {
  std::string expected, found;
  std::string place; ///< "[0, 1]"; empty for a single number
};
BothValues both_values(const ReproFacts &facts);

// The code that TorchInductor makes of the program, for issue.md.

/// Returns the origins that are of the call which explains the failure: of "torch.abs(x)" those of "aten.abs.default".
/// Where the failure is one of gradients, and operators of the backward pass are among them, these alone are returned.
std::vector<GeneratedCode::Origin> explained_origins(const ReproFacts &facts);

/// Returns blocks of {"heading": Markdown, "cpp_code" or "python_code": {"code"}, "folded": {"lines"}}, the last two
/// where there is code to show, and much of it: the decomposition where that is wrong, else the statements of the
/// kernel. Empty where the failure begins before TorchInductor, or the backend is another one.
json generated_code_json(const ReproFacts &facts);

// For which other inputs the program is wrong too.

/// "a", "a and b", "a, b and c".
std::string enumerated(std::vector<std::string> words);

/// True if writes or reads are in another order, or left out.
bool is_of_order(const Explanation &explanation);

/// "With the same values it fails for `int8` too; it is right for `int32`."; empty where nothing was asked.
std::string conditions_sentence(const Conditions &conditions);

/// Returns what bounds the failure, for a title: "uint8", "shape [1, 3]", "uint8[1, 3]", "a 0-d tensor"; empty where it
/// is not bound so.
std::string condition_in_title(const Conditions &conditions);

// Which failures are one bug: what two reduced programs have in common that show the same one.

/// The parts of a bug's name that do not depend on the model in which it was found.
struct BugKey {
  std::string guilty;     ///< the pass that the guilty step runs, whichever time it runs it
  std::string detail;     ///< the words of an exception or the frames of a crash, as a Signature has them
  std::string essence;    ///< the operators that tell the bug from others
  int shared_results = 0; ///< how many results several readers have: a fold where another reads between is another bug
};

/// Returns the parts for a program that was reduced, or handed back as it was (its essence is empty then).
BugKey bug_key(const Program &program, const ReproFacts &facts);

/// Returns the rarest of these operators, and in words what is done in place: "hardshrink", "einsum a write". A failure
/// often needs some neighbour, to be fused with, to hang a gradient on or to be a tensor at all, and any will do: which
/// one a reduction keeps is an accident of the model. The commoner an operator is in models, the likelier it is no more
/// than that.
std::string essence_of(const std::vector<std::string> &operators);

/// Returns all that tells one bug from another, as one text: of the backend and the kind of failure too.
std::string to_string(const BugKey &key, const ReproFacts &facts);

} // namespace repro_minify
