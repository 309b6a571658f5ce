// A way for users of TorchInductor to live with a failure until it is fixed.
#pragma once
#include "repro_minify/repro.h"

#include <optional>
#include <string>

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

/// Returns the line with which eager computes an operator whose lowering is guilty, named as the bisector names it:
/// "sinh" (of ATen, without an overload) or "aten.div.Tensor_mode". Empty for what is no such name.
std::string fallback_for(const std::string &name);

/// Returns a repro.py as its user would write it with the workaround: statements stand before the first call.
std::string with_workaround(const std::string &script, const Workaround &workaround);

/// "`torch._inductor.config.pattern_matcher = False` makes it right, and the model that it comes from, whose call then
/// takes 1.1 times as long."; Markdown, empty where none was found.
std::string workaround_sentence(const ReproFacts &facts);

} // namespace repro_minify
