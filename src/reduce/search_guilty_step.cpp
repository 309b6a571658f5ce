#include "reduce/search.h"

#include <algorithm>
#include <vector>

namespace repro_minify {
namespace {

std::vector<int> range(int begin, int end) {
  std::vector<int> numbers;
  for (int number = begin; number < end; ++number)
    numbers.push_back(number);
  return numbers;
}

/// How many steps the failing beginning has that a binary search comes to: the one that is a step shorter passed.
int failing_beginning(int steps, const StepsFail &fails) {
  int passes = 0, fail = steps;
  while (fail - passes > 1) {
    const int middle = passes + (fail - passes) / 2;
    (fails(range(0, middle)) ? fail : passes) = middle;
  }
  return fail;
}

std::vector<int> with(std::vector<int> steps, int begin, int end) {
  const auto between = range(begin, end);
  steps.insert(std::upper_bound(steps.begin(), steps.end(), begin), between.begin(), between.end());
  return steps;
}

/// Those before `step` that have to run with it, in order: each begins a row up to `step` that fails together with what
/// was found before it, and no longer does when it begins one later.
std::vector<int> needed_before(int step, const StepsFail &fails) {
  std::vector<int> wanted = {step};
  for (int begin = 0; begin < step && !fails(wanted);) {
    int fail = begin, passes = step;
    while (passes - fail > 1) {
      const int middle = fail + (passes - fail) / 2;
      (fails(with(wanted, middle, step)) ? fail : passes) = middle;
    }
    wanted.insert(wanted.end() - 1, fail);
    begin = fail + 1;
  }
  wanted.pop_back();
  return wanted;
}

} // namespace

GuiltySearch find_guilty_step(int steps, const StepsFail &fails) {
  GuiltySearch found;
  found.fails_with_all = fails(range(0, steps));
  if (!found.fails_with_all)
    return found;
  found.fails_with_none = fails({});
  if (found.fails_with_none)
    return found;
  const int step = failing_beginning(steps, fails) - 1;
  std::vector<int> others = range(0, steps);
  others.erase(others.begin() + step);
  found.step = step;
  found.passes_without = !fails(others);
  found.needs = needed_before(step, fails);
  return found;
}

} // namespace repro_minify
