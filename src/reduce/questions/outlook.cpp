#include "reduce/questions/outlook.h"

#include "repro_minify/seconds_left.h"

#include <optional>

namespace repro_minify {
namespace {

/// How long it takes still is said from this check on, where checks are slow enough for anybody to ask, and programs
/// small enough to go through hundreds of them meanwhile.
constexpr int first_outlook = 10;
constexpr double slow_check = 0.01;
constexpr int most_nodes_to_look_at = 4000;
/// The share of the whole time that this may take of a processor, and the share that answers may have to wait for it.
constexpr double most_looking = 0.15;
constexpr double most_overtime = 0.02;

} // namespace

bool Lookout::is_worth_it(int nodes) const {
  return outlook_ && tally_.checks() + 2 >= first_outlook && nodes <= most_nodes_to_look_at &&
         tally_.cost().seconds_for(nodes).value_or(0) >= slow_check &&
         looked_seconds_ <= most_looking * tally_.elapsed_seconds();
}

void Lookout::look(int nodes) {
  if (looked_ || !is_worth_it(nodes))
    return;
  looked_ = true;
  answer_there_at_.reset();
  const double begin = tally_.elapsed_seconds();
  outlook_->look(begin, tally_.cost());
  const double end = tally_.elapsed_seconds();
  looked_seconds_ += end - begin;
  overtime_ += answer_there_at_ ? end - *answer_there_at_ : 0;
}

bool Lookout::is_overdue() {
  const double now = tally_.elapsed_seconds();
  answer_there_at_ = answer_there_at_.value_or(now);
  return overtime_ + now - *answer_there_at_ > most_overtime * now;
}

std::optional<SecondsLeft> Lookout::seconds_left() const {
  return outlook_ && tally_.checks() >= first_outlook ? outlook_->seconds_left(tally_.elapsed_seconds()) : std::nullopt;
}

} // namespace repro_minify
