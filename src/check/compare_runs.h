// The two sides of a check, and their runs compared: outputs, gradients, and the state they leave behind. Internal to
// src/check.
#pragma once
#include "check/run_program.h"
#include "repro_minify/check.h"

#include <chrono>
#include <vector>

namespace repro_minify {

/// Fills the leaves and Signatures of `verdict` from one comparison; true when everything is the same. `fp64` may be
/// null: then eager itself takes its place, as in PyTorch.
bool compare_runs(const Observed &ref, const Observed &res, const Observed *fp64, const CompareOptions &options,
                  Verdict &verdict);

/// True if two runs of one program gave the very same bits. Takes a hundredth of the time of a comparison, which counts
/// where a program returns thousands of values; false for values that it does not understand.
bool same_bits(const Observed &one, const Observed &other);

/// True if the two are so near to one another that, if `compare_runs` calls them the same without a reference, it does
/// so with one: every rule asks float64 only about what is further apart. False for values it does not understand.
bool float64_has_no_say(const Observed &ref, const Observed &res, const CompareOptions &options);

/// The mismatch that shows the most telling failure of a comparison, in one line.
std::string worst_message(const Verdict &verdict);

// The two sides of a check, and what they have in common. Internal to src/check.

/// One check: what its parts have in common.
struct CheckContext {
  const ModuleFactory &factory;
  const Backend &backend;
  const CheckOptions &options;
  bool everything = false; ///< look at all that a check under any backend looks at

  /// Runs eager: `calls` calls of one instance, each with fresh arguments. Programs that keep state answer differently
  /// each time. Uninitialised memory holds `fill` in the first call, something else in the second, and so on in turn.
  /// `like`: the eager calls that these are the fp64 references of; what those did not write to is not looked at.
  std::vector<Observed> run_eager(int calls, const std::vector<Observed> *like = nullptr,
                                  Fill fill = Fill::Usual) const;
  /// Compiles an instance and calls it so often; returns what the last call gave, as some backends run what they have
  /// compiled from the second one on. Throws what the backend throws.
  Observed run_optimised(int calls) const;
  /// compare_runs(), with what one of them did not write to.
  bool compare(Observed &ref, Observed &res, Observed *fp64, const CompareOptions &how, Verdict &verdict) const;
  /// The options for the runs of either side.
  RunOptions run_options() const;
  InstantiateOptions instance_options(bool double_precision = false) const;
};

// Which index of a maximum is right where several elements are equal? Any.

/// Runs both sides of a check once more, over floating-point inputs whose elements are moved apart by a few units in
/// the last place of the largest. Returns true if the whole numbers, which failed before, are the same then: such a
/// failure hangs on elements that are equal (an index of a maximum), or on exact values (a step of `floor`). False
/// where `verdict` shows another failure, or no input has floating-point numbers. `took`: the time that eager ran for.
/// `child` is told which side runs, which is the one to blame if the process ends there. Throws NoAnswer.
bool hangs_on_equal_elements(const CheckContext &context, const Verdict &verdict, std::chrono::duration<double> took,
                             Child &child);

// The ModuleFactory of a check, in the form that the backend takes.

/// Returns the same as factory_of(), but in parts (see program/materialise.h) where the backend allows it.
ModuleFactory factory_for(std::shared_ptr<const Program> program, const Backend &backend);

} // namespace repro_minify
