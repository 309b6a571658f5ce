// Which pass has its turn next: the one with the most expected gain for its cost, until none finds anything.
//
// Cost is counted in checks, weighted by the size of what is checked, rather than in seconds: a clock would give
// another order on another machine, with another number of jobs, or when a killed run is resumed.
#pragma once
#include "reduce/passes/pass.h"

#include <optional>
#include <vector>

namespace repro_minify {

class Schedule {
public:
  explicit Schedule(const std::vector<const ReductionPass *> &passes);

  /// Index of the pass to run next; nothing when all have found nothing since the last change. Passes of one goal take
  /// turns until none of them finds anything, then those of the other do.
  std::optional<size_t> next();
  /// Takes the outcome of a turn. `accepted`: the program changed, so every pass may find something again.
  void took_turn(size_t pass, bool accepted, double gain, double cost);
  /// After its turn: the pass has more to try, but only once all others of its goal have found nothing.
  void deferred(size_t pass);
  bool is_deferred(size_t pass) const { return rows_[pass].deferred; }
  bool had_turn(size_t pass) const { return rows_[pass].turns > 0; }
  /// Passes that may find something still.
  int open() const;

private:
  struct Row {
    Goal goal;
    bool open = true;
    double gain; ///< recent turns count most
    double cost;
    bool deferred = false;
    int turns = 0;
  };
  std::optional<size_t> best_of(Goal goal) const;
  static bool comes_before(const Row &a, const Row &b);

  std::vector<Row> rows_;
  Goal goal_ = Goal::Size;
};

} // namespace repro_minify
