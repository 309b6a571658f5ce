// How long a reduction takes still. No formula knows what the passes will ask: the Forecast goes on with the reduction
// itself on a copy, to its end, with answers drawn as likely as the passes say they are, and adds up what the checks on
// the way would take.
#pragma once
#include "reduce/questions/outlook.h"
#include "reduce/turns.h"

#include <deque>
#include <optional>
#include <vector>

namespace repro_minify {

class CandidateChecker;

class Forecast final : public Outlook {
public:
  /// `turn_began`: where the reduction stood at the begin of the turn that is being taken. What was asked since is
  /// known to the CandidateChecker.
  Forecast(CandidateChecker &checker, const LastRecording &recorder, const std::vector<const ReductionPass *> &passes,
           const ReductionState &turn_began)
      : checker_(checker), recorder_(recorder), passes_(passes), turn_began_(turn_began) {}

  /// Takes note of what became of a candidate. The more were turned down in a row, the less likely the next one works:
  /// passes say how likely it is in the middle of a reduction.
  void note(bool accepted) { refused_ = accepted ? 0 : refused_ + 1; }
  void look(double elapsed_seconds, const CostModel &cost) override;
  std::optional<SecondsLeft> seconds_left(double elapsed_seconds) const override;

private:
  struct Try {
    double made_at, seconds;
  };
  std::optional<double> seconds_to_the_end(const CostModel &cost) const;

  CandidateChecker &checker_;
  const LastRecording &recorder_;
  const std::vector<const ReductionPass *> &passes_;
  const ReductionState &turn_began_;
  std::deque<Try> last_;
  unsigned tries_ = 0;
  int refused_ = 0; ///< in a row
};

} // namespace repro_minify
