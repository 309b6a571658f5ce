// Tests of errors that say nothing of the program, wherever they occur.
#include "backends/backend_parts.h"
#include "check/unresolved.h"
#include "core/no_answer.h"
#include "program/fixture.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/check.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace repro_minify {
namespace {

class Throws final : public Backend, public Preparation {
public:
  explicit Throws(std::function<void()> what) : what_(std::move(what)) {}
  std::string name() const override { return "throws"; }
  std::string summary() const override { return ""; }
  std::string title() const override { return ""; }
  Compiled compile(torch::jit::Module) const override {
    what_();
    return [](const std::vector<c10::IValue> &arguments) { return arguments.at(0); };
  }
  BackendSource source() const override { return {}; }
  BackendParts parts() const override { return {.preparation = this}; }
  void start() const override {}
  void revive() const override { ++revived; }

  mutable int revived = 0;

private:
  std::function<void()> what_;
};

ModuleFactory identity_function() {
  return [](const InstantiateOptions &) {
    torch::jit::Module module("m");
    module.define("def forward(self, x: Tensor) -> Tensor:\n  return x\n");
    return Instance{module, {at::ones({2})}};
  };
}

Verdict check_throwing(std::function<void()> what) {
  const Throws backend(std::move(what));
  return verdict_of(
      run_in_sandbox([&](Child &child) { child.reply(to_json(check_here(identity_function(), backend, {}, child))); },
                     testing_support::test_limits()));
}

/// A device of 8 GiB with no memory left, of which this process has `own` bytes.
class FullDevice final : public c10::DeviceAllocator {
public:
  explicit FullDevice(std::int64_t own) : own_(own) {}
  c10::DataPtr allocate(std::size_t) override { return {}; }
  void copy_data(void *, const void *, std::size_t) const override {}
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr &, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.reserved_bytes[0].current = own_;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
    if (own_ < 0)
      throw std::runtime_error("CUDA error: out of memory");
    return {0, std::size_t{8} << 30};
  }

private:
  const std::int64_t own_;
};

/// Returns what is said of `message` where this process has `own` bytes of the device's memory.
std::string on_a_full_device(std::int64_t own, const std::string &message) {
  const JobEnd job_end = run_in_sandbox(
      [&](Child &child) {
        static FullDevice device(own);
        c10::SetAllocator(c10::kCUDA, &device);
        child.reply("said: " + memory_held_by_others(message, c10::Device(c10::kCUDA)));
      },
      testing_support::test_limits());
  return job_end.reply;
}

TEST(NoAnswer, IsWhatLacksTheDevicesMemoryThatOthersHold) {
  const std::string message = "CUDA out of memory. Tried to allocate 2.00 GiB.";
  EXPECT_EQ(on_a_full_device(std::int64_t{1} << 30, message),
            "said: the memory of the device ran out: other processes hold 7 GiB of its 8 GiB");
  EXPECT_EQ(on_a_full_device(std::int64_t{7} << 30, message), "said: ") << "the program's own need";
  EXPECT_EQ(on_a_full_device(-1, message), "said: the device has no memory left for another process");
  EXPECT_EQ(on_a_full_device(0, "CUDA error: an illegal memory access was encountered"), "said: ");
  EXPECT_EQ(memory_held_by_others(message, c10::Device(c10::kCPU)), "");
}

TEST(NoAnswer, IsWhatABackendSaysThatLacksTheMeans) {
  const Verdict verdict = check_throwing([] { throw NoAnswer("no C++ compiler was found"); });
  EXPECT_TRUE(verdict.no_answer);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
  EXPECT_EQ(verdict.message, "no C++ compiler was found");
  for (const std::errc code : {std::errc::resource_unavailable_try_again, std::errc::no_space_on_device})
    EXPECT_TRUE(check_throwing([code] { throw std::system_error(std::make_error_code(code)); }).no_answer);
}

/// A program whose eager side is run by another process, as one of torch.fx is, and that process is gone.
TEST(NoAnswer, IsWhatEagerSaysThatLacksTheMeans) {
  const Throws backend([] {});
  const ModuleFactory gone = [](const InstantiateOptions &) -> Instance { throw NoAnswer("the worker is gone"); };
  const Verdict verdict =
      verdict_of(run_in_sandbox([&](Child &child) { child.reply(to_json(check_here(gone, backend, {}, child))); },
                                testing_support::test_limits()));
  EXPECT_TRUE(verdict.no_answer);
  EXPECT_FALSE(verdict.eager_raises);
  EXPECT_EQ(verdict.message, "the worker is gone");
}

TEST(NoAnswer, IsNotWhatABackendSaysOfAProgram) {
  const Verdict raised =
      check_throwing([] { throw std::system_error(std::make_error_code(std::errc::invalid_argument)); });
  EXPECT_FALSE(raised.no_answer);
  EXPECT_EQ(raised.outcome, Verdict::Outcome::Fail);
  EXPECT_EQ(check_throwing([] {}).outcome, Verdict::Outcome::Pass);
}

TEST(OwnTrouble, IsAnErrorOfOurs) {
  const Verdict verdict = check_throwing([] { throw OwnBug("in stage fuse"); });
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Unresolved);
  EXPECT_EQ(verdict.trouble, Verdict::Trouble::Bug);
  EXPECT_EQ(check_throwing([] { throw CannotCompile("a sparse result"); }).trouble, Verdict::Trouble::None);
  EXPECT_EQ(verdict_of(run_in_sandbox([](Child &) { throw std::logic_error("wrong"); }, testing_support::test_limits()))
                .trouble,
            Verdict::Trouble::Bug);
}

/// A check that ended at a limit of `limit` bytes, where eager had taken that many.
Verdict past_the_limit(uint64_t eager_bytes, const std::string &stage, uint64_t limit) {
  JobEnd job_end;
  job_end.ending = Ending::OutOfMemory;
  job_end.stage = stage;
  job_end.bytes_before_stage = eager_bytes;
  return unless_memory_is_short(verdict_of(job_end), limit);
}

TEST(OwnTrouble, IsAMachineThatIsTooSmallForTheModel) {
  constexpr uint64_t gib = uint64_t{1} << 30;
  const Verdict large = past_the_limit(7 * gib, "optimised", 12 * gib);
  EXPECT_EQ(large.outcome, Verdict::Outcome::Unresolved);
  EXPECT_EQ(large.trouble, Verdict::Trouble::Memory);
  EXPECT_NE(large.message.find("not enough memory for this check: it may take 12 GiB"), std::string::npos);
  EXPECT_NE(large.message.find("eager alone takes 7 GiB"), std::string::npos) << large.message;
  EXPECT_EQ(past_the_limit(0, "eager", 12 * gib).trouble, Verdict::Trouble::Memory);
  const Verdict small = past_the_limit(gib, "optimised", 12 * gib);
  EXPECT_EQ(small.trouble, Verdict::Trouble::None);
  EXPECT_EQ(small.outcome, Verdict::Outcome::Fail);
  EXPECT_EQ(small.signatures.front().kind, FailureKind::Memory);
}

TEST(OwnTrouble, IsWrittenDownAndReadBack) {
  Verdict verdict = past_the_limit(7, "optimised", 12);
  EXPECT_EQ(verdict_from_json(to_json(verdict)).trouble, Verdict::Trouble::Memory);
  JobEnd job_end;
  job_end.ending = Ending::OutOfMemory;
  job_end.stage = "optimised";
  job_end.bytes_before_stage = 7;
  verdict = verdict_of(job_end);
  const Verdict again = verdict_from_json(to_json(verdict));
  EXPECT_TRUE(again.out_of_memory);
  EXPECT_EQ(again.eager_bytes, 7u);
}

TEST(NoAnswer, IsAnOutcomeThatSaysNothing) {
  JobEnd job_end;
  job_end.stage = "optimised";
  job_end.ending = Ending::Killed;
  EXPECT_TRUE(verdict_of(job_end).no_answer);
  job_end.ending = Ending::Exited;
  job_end.exit_code = -1;
  job_end.message = "the child process could not be started: fork failed";
  EXPECT_TRUE(verdict_of(job_end).no_answer);
  EXPECT_EQ(verdict_of(job_end).message, job_end.message);
  job_end.exit_code = 1;
  EXPECT_EQ(verdict_of(job_end).outcome, Verdict::Outcome::Fail);
}

TEST(NoAnswer, IsAskedForFourTimesInAll) {
  int asked = 0, before = 0;
  Verdict none;
  none.no_answer = true;
  const auto once = [&] {
    ++asked;
    return none;
  };
  EXPECT_TRUE(ask_until_answered(once, [&] { ++before; }).no_answer);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(before, 3);
}

TEST(NoAnswer, MakesASingleCheckAskAgainToo) {
  const auto backend = std::make_shared<Throws>([] { throw NoAnswer("x"); });
  EXPECT_TRUE(check(identity_function(), backend, {}, testing_support::test_limits()).no_answer);
  EXPECT_EQ(backend->revived, 3);
}

} // namespace
} // namespace repro_minify
