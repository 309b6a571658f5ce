// A way for users of TorchInductor to live with a failure until it is fixed.
#pragma once
#include "repro_minify/repro.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// The model that was reduced, and how it is checked.
struct WorkaroundQuestion {
  ModuleFactory reduced, model;
  Limits limits;
  std::string python;  ///< that runs repro.py
  std::string results; ///< the folder that repro.py lies in
};

/// Looks for the cheapest way that makes the reduced program right: a setting of TorchInductor, else a
/// fallback in place of the guilty lowering, else to leave its operators to eager. What is found was run as repro.py
/// with its lines in it; then the model is checked with it, and timed. Nothing where none is found, or the backend is
/// another one. Some seconds; throws Interrupted.
std::optional<Workaround> find_workaround(const ReproFacts &facts, const WorkaroundQuestion &question);

/// Returns the operator's name in torch.ops for the one that the bisector has: "aten.sinh.default" for "sinh"; a name
/// with a dot in it, "aten.div.Tensor_mode", is whole.
std::string whole_operator_name(const std::string &name);

/// Returns the line with which eager computes an operator whose lowering is guilty, named as the bisector names it:
/// "sinh" (of ATen, without an overload) or "aten.div.Tensor_mode". Empty for what is no such name.
std::string fallback_for(const std::string &name);

/// Returns a repro.py as its user would write it with the workaround: statements stand before the first call.
std::string with_workaround(const std::string &script, const Workaround &workaround);

/// "`torch._inductor.config.pattern_matcher = False` makes this program right, and the original model too. A call of
/// the model then takes 1.2 times as long."; Markdown, empty where none was found.
std::string workaround_sentence(const ReproFacts &facts);

// How a wrong result comes about: the change of the program with which eager gives it too.

/// Asks a backend that is used from Python which change of the reduced program gives in eager what the backend gives,
/// for its inputs and for others (backends/inductor/explanation.py), what code it makes of the program, and for which
/// other inputs it fails; fills `explanation`, `generated` and `conditions` of `facts`, where there are any. Does
/// nothing where the failure is neither one of results nor an exception. Throws std::runtime_error where there is no
/// answer.
void find_explanation(const Program &program, ReproFacts &facts, const Limits &limits);

/// Returns a clause of Markdown: "`x[:1] = 9` runs before `y.add_(1)`"; empty where no explanation is known.
std::string explanation_clause(const ReproFacts &facts);
/// Returns the sentence that it stands in: "Eager gives the same wrong result if `x[:1] = 9` runs before `y.add_(1)`."
std::string explanation_sentence(const ReproFacts &facts);

// How repro.py fares under other versions of PyTorch, and which side moved between them.

/// Runs the verified repro.py of the folder `results` in `python`, the interpreter that it was verified in, and in each
/// of `others`. The answer of `python` is first. One that cannot be asked has a row that says why.
std::vector<VersionRow> ask_versions(const ReproFacts &facts, const std::string &results, const std::string &python,
                                     const std::vector<std::string> &others, const std::function<bool()> &interrupted);

/// Returns a sentence or two: "Right in PyTorch 2.12.1, wrong in 2.13.0 and 2.15.0. From 2.12.1 to 2.13.0 the compiled
/// result changed, eager's did not."; empty where no version was asked.
std::string versions_sentence(const ReproFacts &facts);

/// True if an earlier version is right, and it was not eager that changed since.
bool is_regression(const ReproFacts &facts);

} // namespace repro_minify
