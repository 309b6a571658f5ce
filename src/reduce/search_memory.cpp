#include "reduce/search_memory.h"

#include <chrono>
#include <string>

namespace repro_minify {
namespace {

constexpr int most_unanswered_in_a_row = 8;

} // namespace

Tally::Clock Tally::clock() {
  return [begin = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
}

void Tally::answered(double seconds) {
  ++checks_;
  check_seconds_ += seconds;
  unanswered_in_a_row_ = 0;
}

void Tally::unanswered(const std::string &reason) {
  ++unanswered_;
  ++unanswered_in_a_row_;
  reasons_.insert(reason);
}

bool Tally::nothing_answers() const {
  return unanswered_in_a_row_ >= most_unanswered_in_a_row;
}

} // namespace repro_minify
