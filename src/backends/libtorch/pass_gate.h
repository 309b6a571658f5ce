// Which of LibTorch's JIT passes run. LibTorch calls its passes through the dynamic linker, so that a program may stand
// in for them (gated_passes.cpp): each call is counted along the pipeline that its backend is known to run, and let
// through or not. What runs is LibTorch's own executor, freezing and so on, with steps left out.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// A function by which one sees how far the pipeline is.
struct PhaseMark {
  const char *function;
  enum Meaning {
    Begin, ///< the phase begins, a pipeline inside another one when that was further
    End,   ///< ... and the one outside goes on where it was
  } meaning;
  int phase = 0;
};

/// The steps that a backend runs, in order. Not all need be called; after the last of a phase its first may come again.
struct Pipeline {
  /// A pass that it calls, by its name in torch::jit, or a switch that the backend asks about (step_runs).
  struct Step {
    const char *function;
    int phase = 0;
    bool inside = false; ///< called by the pass that stands before it, or before others of that kind
  };
  std::vector<Step> steps;
  std::vector<PhaseMark> marks = {};
};

/// Each once: what comes several times is "Peephole", "Peephole#2", ...; what is inside is "Peephole#2/Lists".
std::vector<std::string> step_names(const Pipeline &pipeline);

/// Returns the function in torch::jit that runs in the step of this name. Throws std::out_of_range where there is none.
std::string function_of_step(const Pipeline &pipeline, const std::string &name);

/// True if LibTorch's calls do come by here. A LibTorch that was linked with -Bsymbolic keeps them to itself.
bool passes_can_be_gated();

/// While it lives, only the steps that are named run. One at a time; passes may be called in any thread.
class PassGate {
public:
  PassGate(const Pipeline &pipeline, const std::vector<std::string> &steps);
  ~PassGate();
  PassGate(const PassGate &) = delete;
  PassGate &operator=(const PassGate &) = delete;

  /// The steps that were reached, in order, whether or not they ran.
  std::vector<std::string> reached() const;
  /// Passes that were called where the pipeline does not have them; they ran.
  std::vector<std::string> unexpected() const;

  class State;

private:
  std::shared_ptr<State> state_;
};

/// True if a step that is a switch is on; it always is without a gate.
bool step_runs(const std::string &name);

/// One call of a gated function, from its begin to its end.
class PassCall {
public:
  explicit PassCall(const char *function);
  ~PassCall();
  PassCall(const PassCall &) = delete;
  PassCall &operator=(const PassCall &) = delete;

  bool runs() const { return runs_; }

private:
  std::shared_ptr<PassGate::State> state_; ///< of the gate that was there when it began; null: there was none
  bool runs_ = true;
};

} // namespace repro_minify
