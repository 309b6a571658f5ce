#include "reduce/forecast.h"

#include "reduce/assuming_checker.h"

#include <random>

namespace repro_minify {
namespace {

/// So many at a time, where there is time for them; the last ones count.
constexpr int tries_at_once = 3;
constexpr size_t tries_that_count = 6;
/// Fewer say nothing of how far apart they may be.
constexpr size_t enough_tries = 4;
/// After that many refusals in a row a pass's odds are halved.
constexpr double refusals_that_tell = 10;
/// A try is forgotten once that part of what it foretold has passed.
constexpr double most_passed = 0.5;
/// A reduction that asks more questions gets no forecast.
constexpr int most_questions = 2000;

} // namespace

/// Nothing where that would take too long.
std::optional<double> Forecast::seconds_to_the_end(const CostModel &cost) const {
  std::mt19937 random(tries_);
  LastRecording recorder = recorder_; // what is recorded here is of programs that may never come to be
  TurnReport report;
  double seconds = 0;
  int questions = 0, refused = refused_;
  AssumingChecker answers(
      checker_, {}, turn_began_.verdict, [this] { return checker_.answer_is_overdue(); },
      [&](const Program &program) {
        if (++questions > most_questions)
          answers.stop();
        seconds += cost.seconds_for(size_of(program).nodes).value_or(0);
        const double chance = report.chance * refusals_that_tell / (refusals_that_tell + refused);
        const bool works = std::bernoulli_distribution(chance)(random);
        refused = works ? 0 : refused + 1;
        return works;
      });
  ReductionObserver unheard;
  Turns turns(answers, recorder, passes_, unheard);
  const auto end = answers.run([&] {
    for (ReductionState state = turn_began_; const auto pass = state.schedule.next();) {
      report = {};
      turns.take(state, *pass, report);
    }
  });
  return std::holds_alternative<CameToItsEnd>(end) ? std::optional(seconds) : std::nullopt;
}

void Forecast::look(double elapsed_seconds, const CostModel &cost) {
  for (int i = 0; i < tries_at_once; ++i) {
    const auto seconds = seconds_to_the_end(cost);
    ++tries_;
    if (!seconds)
      break;
    last_.push_back({elapsed_seconds, *seconds});
  }
  while (last_.size() > tries_that_count)
    last_.pop_front();
}

std::optional<SecondsLeft> Forecast::seconds_left(double elapsed_seconds) const {
  std::vector<double> left;
  for (const Try &each : last_)
    if (const double passed = elapsed_seconds - each.made_at; passed < most_passed * each.seconds)
      left.push_back(each.seconds - passed);
  return left.size() < enough_tries ? std::nullopt : sensible_range(left);
}

} // namespace repro_minify
