// The units that a splice can leave out, and what is read instead: an earlier tensor of the same shape and dtype.
#pragma once
#include "reduce/passes/splice_units.h"

#include <optional>
#include <utility>
#include <vector>

namespace repro_minify {

struct SpliceSite {
  /// A version that others read of it.
  struct Result {
    Version version;
    std::vector<const torch::jit::Value *> stand_ins;   ///< that may be read instead, best first
    std::optional<c10::IValue> constant = std::nullopt; ///< in their place: what a number was
  };
  int unit;
  std::vector<Result> results;
};

class SpliceSites : public SpliceUnits {
public:
  /// Keeps a reference.
  explicit SpliceSites(const Recording &recording);

  const Unit &unit(int number) const { return units()[number]; }
  /// Returns the version of a value after the last write to it.
  Version final_version(const torch::jit::Value *value) const;
  /// Nothing for a unit with a result that has no stand-in, or with no tensor among its results.
  std::optional<SpliceSite> site_at(int unit) const;
  /// Returns the values made by dominators that can be read where `exit` is, the nearest first, each with the number of
  /// steps from dominator to dominator up to it.
  std::vector<std::pair<const torch::jit::Value *, int>> in_dominators(int unit, const Version &exit) const;
  /// True if `exit` holds about what `value` does in the end: all that lies between undoes itself.
  bool is_about_the_same(const torch::jit::Value *value, const Version &exit) const;

private:
  bool is_input(const torch::jit::Value *value) const;
  SpliceSite::Result result_at(int unit, const Version &exit) const;
  const at::Tensor *tensor(const Version &version) const;
  int time_of(const Version &version) const;
  bool stands_for(const torch::jit::Value *value, const Version &exit) const;
  int rank(const torch::jit::Value *value) const;
  std::vector<const torch::jit::Value *> stand_ins(int unit, const Version &exit) const;
  const torch::jit::Value *in_ancestor(int unit, const Version &exit) const;

  const Recording &recording_;
  const std::vector<int> dominators_; ///< by unit
};

} // namespace repro_minify
