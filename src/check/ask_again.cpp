#include "check/ask_again.h"

namespace repro_minify {

Verdict ask_until_answered(const std::function<Verdict()> &once, const std::function<void()> &before_again) {
  for (int again = 0;; ++again) {
    Verdict verdict = once();
    if (!verdict.no_answer || again == most_asked_again)
      return verdict;
    pause_before_asking_again(again);
    if (before_again)
      before_again();
  }
}

} // namespace repro_minify
