#include "reduce/schedule.h"

#include <algorithm>

namespace repro_minify {
namespace {

/// Returns the gain for one unit of cost that is expected of a pass before it has run: most for the registry's first.
double prior_gain(size_t position) {
  return 64.0 / static_cast<double>(1 + position);
}

/// How much of what earlier turns said is believed still: programs that have got small are of another kind.
constexpr double memory = 0.25;
/// The part of its prior gain that is expected of a pass that found nothing the last time.
constexpr double faint_hope = 1.0 / 64;

} // namespace

bool Schedule::comes_before(const Row &a, const Row &b) {
  return a.deferred != b.deferred ? b.deferred : a.gain * b.cost > b.gain * a.cost;
}

Schedule::Schedule(const std::vector<const ReductionPass *> &passes) {
  for (size_t i = 0; i < passes.size(); ++i)
    rows_.push_back({passes[i]->goal, true, prior_gain(i), 1});
}

std::optional<size_t> Schedule::best_of(Goal goal) const {
  std::optional<size_t> best;
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].open && rows_[i].goal == goal && (!best || comes_before(rows_[i], rows_[*best])))
      best = i;
  return best;
}

std::optional<size_t> Schedule::next() {
  if (const auto pass = best_of(goal_))
    return pass;
  goal_ = goal_ == Goal::Size ? Goal::Simplicity : Goal::Size;
  return best_of(goal_);
}

void Schedule::took_turn(size_t pass, bool accepted, double gain, double cost) {
  Row &row = rows_[pass];
  row.gain = accepted ? memory * row.gain + gain : faint_hope * prior_gain(pass);
  row.cost = memory * row.cost + cost;
  row.deferred = false;
  ++row.turns;
  if (accepted)
    for (Row &other : rows_) {
      other.open = true;
      other.deferred = false;
    }
  else
    row.open = false;
}

void Schedule::deferred(size_t pass) {
  rows_[pass].open = true;
  rows_[pass].deferred = true;
}

int Schedule::open() const {
  return static_cast<int>(std::count_if(rows_.begin(), rows_.end(), [](const Row &row) { return row.open; }));
}

} // namespace repro_minify
