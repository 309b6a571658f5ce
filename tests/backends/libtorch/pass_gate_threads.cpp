// The gate, entered by many threads at once while it comes and goes: a program of its own, built with ThreadSanitizer
// where there is one, without LibTorch.
#include "backends/libtorch/pass_gate.h"

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using namespace repro_minify;

const Pipeline pipeline{{{"Outer"}, {"OuterInner", 0, true}, {"Last"}}, {{"Mark", PhaseMark::Begin, 0}}};

/// Each thread's calls are within its own: "Inner" is a part of the "Outer" that its own thread is in.
void call_passes(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    { const PassCall mark("Mark"); }
    {
      const PassCall outer("Outer");
      const PassCall inner("OuterInner");
    }
    const PassCall last("Last");
    step_runs("Outer");
  }
}

} // namespace

int main() {
  constexpr int threads = 8, rounds = 200;
  std::atomic<bool> done{false};
  std::vector<std::thread> callers;
  std::thread others([&] { // threads of a pool go on while gates come and go
    while (!done)
      call_passes(1);
  });
  for (int gates = 0; gates < 50; ++gates) {
    const PassGate gate(pipeline, {"Outer"});
    call_passes(1);
  }
  done = true;
  others.join();

  const PassGate gate(pipeline, step_names(pipeline));
  for (int i = 0; i < threads; ++i)
    callers.emplace_back(call_passes, rounds);
  for (auto &caller : callers)
    caller.join();
  size_t inner = 0;
  for (const auto &name : gate.reached())
    inner += name == "Outer/Inner";
  if (inner != static_cast<size_t>(threads) * rounds)
    std::printf("%zu of %d calls were seen inside their own\n", inner, threads * rounds);
  return inner == static_cast<size_t>(threads) * rounds ? 0 : 1;
}
