// Which step is guilty of a failure that depends on chance.
#include "program/program_from.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/bisect.h"

#include <gtest/gtest.h>

#include <atomic>

#include <sys/mman.h>

namespace repro_minify {
namespace {

/// Counts the calls in all processes that are forked from this one.
class SharedCounter {
public:
  SharedCounter() {
    void *memory = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    count_ = new (memory) std::atomic<int>(0);
  }
  ~SharedCounter() { munmap(count_, sizeof(*count_)); }
  SharedCounter(const SharedCounter &) = delete;
  SharedCounter &operator=(const SharedCounter &) = delete;
  int next() const { return count_->fetch_add(1); }

private:
  std::atomic<int> *count_ = nullptr;
};

/// Adds one to the result in every other process, where its step "add" has not been left out.
class WrongEveryOtherTime : public Backend, public CompilationSteps {
public:
  WrongEveryOtherTime(const SharedCounter &processes, bool adds) : processes_(processes), adds_(adds) {}
  std::string name() const override { return "every-other"; }
  std::string summary() const override { return ""; }
  std::string title() const override { return "a test"; }
  BackendSource source() const override { return {}; }
  BackendTraits traits() const override { return {.runs_the_module = true}; }
  BackendParts parts() const override {
    BackendParts parts;
    parts.steps = this;
    return parts;
  }
  Compiled compile(torch::jit::Module module) const override {
    const bool wrong = adds_ && processes_.next() % 2 == 1;
    return [module, wrong](std::vector<c10::IValue> arguments) mutable -> c10::IValue {
      c10::IValue result = module.forward(std::move(arguments));
      return wrong ? c10::IValue(result.toTensor() + 1) : result;
    };
  }
  std::vector<std::string> names() const override { return {"look", "add", "tidy"}; }
  std::unique_ptr<Backend> with(const std::vector<std::string> &names) const override {
    const bool adds = std::find(names.begin(), names.end(), "add") != names.end();
    return std::make_unique<WrongEveryOtherTime>(processes_, adds);
  }

private:
  const SharedCounter &processes_;
  bool adds_ = false;
};

TEST(BisectOfAFailureByChance, AsksAgainWhatPassesWhereTheWholeHasPassed) {
  const SharedCounter processes;
  const auto program = std::make_shared<Program>(testing_support::program_from(
      "graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)", {at::ones({2})}));
  BisectOptions options;
  options.wanted.kind = FailureKind::Accuracy;
  options.same_failure = SameFailure::Kind;
  const Bisection found = bisect(subject_of(program), std::make_shared<WrongEveryOtherTime>(processes, true), options);
  EXPECT_EQ(found.guilty, "add") << to_json(found);
  EXPECT_TRUE(found.confirmed) << to_json(found);
  EXPECT_FALSE(found.checks.at(0).fails) << "the first is right by chance";
}

} // namespace
} // namespace repro_minify
