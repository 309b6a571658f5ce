// When two failures are one: tables of what must and what must not be equal.
#include "repro_minify/check.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

struct Messages {
  const char *a, *b;
};

TEST(Signature, EqualMessages) {
  const Messages table[] = {
      {"size of tensor a (3) must match b (17) at 0x7ffe12", "size of tensor a (4) must match b (5) at 0x55aa"},
      {"shape [2, 3, 4]", "shape [5, 6]"},
      {"shape [2, 3, 4]", "shape [5]"},
      {"bad scale 1.5e-3", "bad scale -2"},
      {"index -1 is out of bounds", "index 12 is out of bounds"},
      {"assert failed at \"/home/a/x.h\":12, please report", "assert failed at \"/opt/b/x.h\":99, please report"},
      {"cannot open /tmp/a/b.so: no such file", "cannot open /var/c.so: no such file"},
      {"cannot open ../lib/b.so", "cannot open ./c.so"},
      {"no value %x.12 in scope", "no value %y in scope"},
      {"KeyError: 'buf6'", "KeyError: 'buf12'"},
      {"use of in_out_ptr0, arg3_1 and primals_2", "use of in_out_ptr2, arg0_1 and primals_1"},
      {"RuntimeError: bad 3\nmore", "RuntimeError: bad 4"},
      {"two   spaces", "two spaces"},
      {"The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript:\n  line 3\n"
       "RuntimeError: bad 3\n",
       "RuntimeError: bad 4"},
  };
  for (const auto &[a, b] : table)
    EXPECT_EQ(normalise_message(a), normalise_message(b));
}

TEST(Signature, UnequalMessages) {
  const Messages table[] = {
      {"expected double", "expected int"},
      {"expected dtype int64", "expected dtype int32"},
      {"expected c10::BFloat16 but got float", "expected c10::Half but got float"},
      {"expected Float32 but got Float64", "expected Float64 but got Float32"},
      {"expected a 2D tensor", "expected a 3D tensor"},
      {"conv1d failed", "conv2d failed"},
      {"RuntimeError: bad", "ValueError: bad"},
      {"KeyError: 'buf6'", "KeyError: 'tmp6'"},
      {"KeyError: 'ringbuf6'", "KeyError: 'ringbuf7'"},
      {"no arg3", "no arg4"},
      {"no kernel for aten::lerp", "no kernel for aten::add"},
      {"unhandled op_type: 24", "unhandled op_type: 26"},
      {"", "anything"},
  };
  for (const auto &[a, b] : table)
    EXPECT_NE(normalise_message(a), normalise_message(b));
}

TEST(Signature, AMessageOfAnyLengthAndAnyBytesIsKept) {
  EXPECT_LE(normalise_message(std::string(100000, 'x')).size(), 300u);
  EXPECT_EQ(normalise_message(std::string("a\xff\x01z")), std::string("a\xff\x01z"));
}

Verdict failing(std::vector<Signature> signatures) {
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Fail;
  verdict.signatures = std::move(signatures);
  return verdict;
}

struct Pair {
  Signature wanted, seen;
  bool strict, kind;
};

TEST(Signature, WhatCountsAsTheSameFailure) {
  const Signature accuracy{FailureKind::Accuracy, "output", ""}, state{FailureKind::Accuracy, "state", ""},
      gradient{FailureKind::Gradient, "gradient", ""}, dtype{FailureKind::Dtype, "output", ""},
      nan{FailureKind::Nan, "output", ""}, inf{FailureKind::Nan, "output", "Inf, no NaN"},
      raised{FailureKind::Exception, "", "a"}, other{FailureKind::Exception, "", "b"},
      crash{FailureKind::Crash, "", "signal 11 in f, g", 11}, elsewhere{FailureKind::Crash, "", "signal 11 in h", 11},
      abort{FailureKind::Crash, "", "signal 6 in f, g", 6}, hang{FailureKind::Hang, "", ""};
  const Pair table[] = {
      {accuracy, accuracy, true, true},
      {accuracy, state, false, true},
      {accuracy, dtype, false, false},
      {accuracy, nan, false, false},
      {accuracy, gradient, false, false},
      {raised, raised, true, true},
      {raised, other, false, true},
      {raised, crash, false, false},
      {crash, elsewhere, false, true},
      {nan, inf, true, true},
      {inf, nan, false, true},
      {inf, inf, true, true},
      {crash, abort, false, true},
      {hang, hang, true, true},
      {hang, crash, false, false},
  };
  for (const auto &row : table) {
    const Verdict verdict = failing({row.seen});
    EXPECT_EQ(shows(verdict, row.wanted, SameFailure::Strict), row.strict)
        << to_string(row.wanted) << " / " << to_string(row.seen);
    EXPECT_EQ(shows(verdict, row.wanted, SameFailure::Kind), row.kind)
        << to_string(row.wanted) << " / " << to_string(row.seen);
    EXPECT_TRUE(shows(verdict, row.wanted, SameFailure::Any));
  }
}

TEST(Signature, OneOfSeveralIsEnough) {
  const Signature accuracy{FailureKind::Accuracy, "output", ""}, dtype{FailureKind::Dtype, "output", ""};
  EXPECT_TRUE(shows(failing({accuracy, dtype}), dtype));
  EXPECT_FALSE(shows(failing({accuracy}), dtype));
}

TEST(Signature, WhatDoesNotFailShowsNothing) {
  const Signature accuracy{FailureKind::Accuracy, "output", ""};
  Verdict passing = failing({accuracy});
  passing.outcome = Verdict::Outcome::Pass;
  EXPECT_FALSE(shows(passing, accuracy, SameFailure::Any));
  passing.outcome = Verdict::Outcome::Unresolved;
  EXPECT_FALSE(shows(passing, accuracy, SameFailure::Any));
}

JobEnd ended(Ending ending, const std::string &stage) {
  JobEnd job_end;
  job_end.ending = ending;
  job_end.stage = stage;
  return job_end;
}

TEST(Signature, ACrashIsItsSignalAndItsInnermostNamedFrames) {
  JobEnd job_end = ended(Ending::Crashed, "optimised");
  job_end.signal = 11;
  job_end.frames = {"?", "at::native::f", "?", "g", "h"};
  EXPECT_EQ(verdict_of(job_end).signatures.front().detail, "signal 11 in at::native::f, g");
  job_end.frames.clear();
  EXPECT_EQ(verdict_of(job_end).signatures.front().detail, "signal 11");
}

TEST(Signature, BeforeTheOptimisedRunTheFaultIsEagersOwn) {
  for (const Ending ending : {Ending::Crashed, Ending::TimedOut, Ending::OutOfMemory, Ending::Exited}) {
    const Verdict eager = verdict_of(ended(ending, "eager"));
    EXPECT_EQ(eager.outcome, Verdict::Outcome::Unresolved);
    EXPECT_TRUE(eager.eager_failed);
    EXPECT_EQ(verdict_of(ended(ending, "optimised")).outcome, Verdict::Outcome::Fail);
  }
}

} // namespace
} // namespace repro_minify
