// How long the reduction takes still: this is found out while answers are waited for, and may hold the search up a
// little.
#pragma once
#include "reduce/questions/tally.h"

#include <optional>

namespace repro_minify {

/// Says how long the reduction takes still.
class Outlook {
public:
  virtual ~Outlook() = default;
  /// Is called while a check runs, with what is known now.
  virtual void look(double elapsed_seconds, const CostModel &cost) = 0;
  /// Returns nothing where that cannot be told.
  virtual std::optional<SecondsLeft> seconds_left(double elapsed_seconds) const = 0;
};

/// Says when an Outlook may look, and for how long.
class Lookout {
public:
  explicit Lookout(const Tally &tally) : tally_(tally) {}

  /// It has to live as long.
  void look_with(Outlook &outlook) { outlook_ = &outlook; }
  /// Another question is asked.
  void begin_question() { looked_ = false; }
  /// Looks, once for each question, where that is worth it. `nodes`: of the best so far.
  void look(int nodes);
  /// For the Outlook, once the answer that is waited for is there: whether it has to wait no longer.
  bool is_overdue();
  std::optional<SecondsLeft> seconds_left() const;

private:
  bool is_worth_it(int nodes) const;

  const Tally &tally_;
  Outlook *outlook_ = nullptr;
  bool looked_ = false;                   ///< during this question
  double looked_seconds_ = 0;             ///< all in all
  double overtime_ = 0;                   ///< of these, how long answers had to wait
  std::optional<double> answer_there_at_; ///< since when one waits
};

} // namespace repro_minify
