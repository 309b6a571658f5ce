#include "check/ask_until_answered.h"

namespace repro_minify {

Verdict ask_until_answered(const std::function<Verdict()> &once, const std::function<void()> &before_again,
                           const std::function<bool()> &interrupted) {
  for (int again = 0;; ++again) {
    Verdict verdict = once();
    if (!verdict.no_answer || again == most_asked_again || !pause_before_asking_again(again, interrupted))
      return verdict;
    if (before_again)
      before_again();
  }
}

} // namespace repro_minify
