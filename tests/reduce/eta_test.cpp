// How long it takes still: what is said of it is held against how long it took.
#include "reduce/eta.h"

#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(CostModel, FitsALine) {
  CostModel cost;
  EXPECT_EQ(cost.seconds_for(10), std::nullopt);
  for (double size : {10, 20, 40, 80})
    cost.saw(size, 0.5 + 0.01 * size);
  EXPECT_NEAR(*cost.seconds_for(160), 2.1, 1e-9);
  EXPECT_NEAR(*cost.seconds_for(0), 0.5, 1e-9);
}

TEST(CostModel, TakesTheMeanOfOneSizeAndIsNeverNegative) {
  CostModel cost;
  for (double seconds : {1.9, 2.0, 2.1})
    cost.saw(50, seconds);
  EXPECT_NEAR(*cost.seconds_for(1000), 2, 0.02);
  CostModel falling;
  for (double size : {10, 20, 30})
    falling.saw(size, 100 / size);
  EXPECT_GT(*falling.seconds_for(1000), 0);
}

TEST(CostModel, ForgetsWhatLargeProgramsTook) {
  CostModel cost;
  for (int check = 0; check < 20; ++check)
    cost.saw(20000, 3.0);
  for (int check = 0; check < 100; ++check)
    cost.saw(10, 0.01);
  EXPECT_NEAR(*cost.seconds_for(10), 0.01, 0.005);
}

TEST(SensibleMean, IsInTheMiddle) {
  EXPECT_NEAR(*sensible_mean({2, 2, 2}), 2, 1e-9);
  EXPECT_NEAR(*sensible_mean({2, 4.5}), 3, 1e-9);
}

TEST(SensibleMean, SaysNothingWhereForecastsAreFarApart) {
  EXPECT_EQ(sensible_mean({1, 100}), std::nullopt);
  EXPECT_EQ(sensible_mean({0, 1}), std::nullopt);
}

/// A chain of operators with recorded data: most passes find something to ask.
Program chain_with(const std::string &kind, int length) {
  std::string text = "graph(%v0 : Tensor):\n";
  for (int i = 0; i < length; ++i)
    text += "  %v" + std::to_string(i + 1) + " : Tensor = aten::" +
            (i == length / 3 ? kind
             : i % 2         ? "neg"
                             : "tanh") +
            "(%v" + std::to_string(i) + ")\n";
  return program_from(text + "  return (%v" + std::to_string(length) + ")",
                      {at::arange(24, at::kFloat).mul(0.1).view({4, 6}).t()});
}

/// Progress of a reduction whose checks take `nap` each.
std::vector<Progress> progress_with(const Program &program, const std::function<bool(const Program &)> &interesting,
                                    std::chrono::milliseconds nap) {
  std::vector<Progress> all;
  ReduceOptions options;
  options.limits.timeout = std::chrono::minutes(1);
  options.progress = [&](const Progress &progress) { all.push_back(progress); };
  InterestingnessTest test = structural_test(interesting);
  test.job = [nap, job_of = test.job](const std::shared_ptr<const Program> &candidate) -> Job {
    return [nap, job = job_of(candidate)](Child &child) {
      std::this_thread::sleep_for(nap);
      job(child);
    };
  };
  const Verdict verdict = interesting_verdict(true);
  const Reduction reduction = reduce(program, verdict, verdict.signatures.front(), test, options);
  Progress end;
  end.elapsed_seconds = reduction.seconds;
  all.push_back(end);
  return all;
}

/// Answers are drawn, and a machine with other work makes checks slower as it pleases: most numbers hold, not each.
TEST(Forecast, IsSeldomOffByMoreThanThreeTimes) {
  const auto progress = progress_with(
      chain_with("erf", 40),
      [](const Program &program) {
        // Several that have to stay: it takes a while to find them.
        return count(program, "aten::erf") == 1 && count(program, "aten::neg") >= 6 && program.inputs.size() == 1 &&
               program.inputs.front().value.toTensor().numel() >= 3;
      },
      std::chrono::milliseconds(150));
  int said = 0, wrong = 0;
  for (const Progress &at : progress) {
    const double left = progress.back().elapsed_seconds - at.elapsed_seconds;
    if (at.checks < 10) {
      EXPECT_EQ(at.remaining_seconds, std::nullopt);
    }
    if (!at.remaining_seconds || *at.remaining_seconds < 1)
      continue; // nothing is shown
    ++said;
    wrong += *at.remaining_seconds > 3 * left || *at.remaining_seconds < left / 3;
  }
  EXPECT_GT(said, 0);
  EXPECT_LE(wrong * 5, said) << wrong << " of " << said;
}

} // namespace
} // namespace repro_minify
