// Lets the search of reduce/search ask about Programs: whatever an index set means, a pass says how one is made of it.
#pragma once
#include "reduce/passes/pass.h"
#include "reduce/search.h"

#include <functional>
#include <utility>
#include <vector>

namespace repro_minify {

/// The question that is asked, and what may follow: more than there are workers, for those whose guess ends before.
inline int speculation_width(const EngineContext &context) {
  return context.services.questions_at_once() > 1 ? context.services.questions_at_once() + 2 : 1;
}

class ProgramOracle : public Oracle {
public:
  using Make = std::function<Program(const IndexSet &kept)>;
  ProgramOracle(EngineContext &context, Make make) : context_(context), make_(std::move(make)) {}

  /// Accepted as soon as it is seen: an interruption keeps it, and the Order lets only smaller ones through.
  bool fails(const IndexSet &kept) override {
    const auto next = std::exchange(likely_, {});
    return context_.fails(make_(kept), next);
  }

  void speculate(const std::vector<IndexSet> &likely_next) override {
    likely_.clear();
    for (const auto &kept : likely_next)
      likely_.emplace_back([this, kept] { return make_(kept); });
  }

protected:
  /// For the next question, beside what the search says.
  void expect(const std::vector<LazyProgram> &likely_next) { likely_ = likely_next; }

private:
  EngineContext &context_;
  const Make make_;
  std::vector<LazyProgram> likely_;
};

} // namespace repro_minify
