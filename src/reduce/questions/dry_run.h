// Code that asks questions is run ahead, as it is, until it asks what has no answer yet.
//
// It asks from the middle of its loops, and has nothing to go on with there: it has to be left. That it is unwound is
// known in this file alone; outside, what a dry run came to is a value. (docs/notes/parallelism.md: why not otherwise)
#pragma once
#include <utility>
#include <variant>

namespace repro_minify {

/// It asked nothing that is open, or nothing that can be foreseen.
struct CameToItsEnd {};
/// The question that it would have asked is no longer needed.
struct WasStopped {};
/// The outcome of a dry run; a Question is the first that is open.
template <typename Question> using DryRunEnd = std::variant<CameToItsEnd, Question, WasStopped>;

template <typename Question> class DryRun {
public:
  /// Does `work`, as far as it gets before something in it calls leave_at() or stop().
  template <typename Work> DryRunEnd<Question> run(const Work &work) {
    end_ = CameToItsEnd{};
    try {
      work();
    } catch (const Left &left) {
      if (left.whose != this)
        throw;
    }
    return std::exchange(end_, CameToItsEnd{});
  }

  /// For what is done within run(); end(): what comes next depends on more than can be assumed.
  [[noreturn]] void leave_at(Question question) {
    end_ = std::move(question);
    throw Left{this}; // NOLINT(bugprone-std-exception-baseclass)
  }
  [[noreturn]] void end() {
    end_ = CameToItsEnd{};
    throw Left{this}; // NOLINT(bugprone-std-exception-baseclass)
  }
  [[noreturn]] void stop() {
    end_ = WasStopped{};
    throw Left{this}; // NOLINT(bugprone-std-exception-baseclass)
  }

private:
  /// No std::exception: whatever the code does about errors, it lets this one pass.
  struct Left {
    const DryRun *whose;
  };

  DryRunEnd<Question> end_;
};

} // namespace repro_minify
