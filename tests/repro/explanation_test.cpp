#include "repro/small_program.h"
#include "repro/workaround.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

std::string sentence_of(const std::string &kind, const std::string &call, const std::string &other) {
  ReproFacts facts = testing_support::facts_of(FailureKind::Accuracy, false, false);
  facts.explanation = Explanation{kind, call, other};
  return explanation_sentence(facts);
}

TEST(Explanation, SaysWhatEagerIsChangedBy) {
  const std::string begin = "Eager gives the same wrong result if ";
  EXPECT_EQ(sentence_of("left out", "x.clone()", ""), begin + "`x.clone()` is left out.");
  EXPECT_EQ(sentence_of("detached", "x[1:]", ""), "In the compiled result `x[1:]` does not require grad.");
  EXPECT_EQ(sentence_of("before", "x[0] = 1", "x + 1"), begin + "`x[0] = 1` runs before `x + 1`.");
  EXPECT_EQ(sentence_of("without", "f(x)", "ceil_mode=True"), begin + "`ceil_mode=True` is ignored by `f(x)`.");
  EXPECT_EQ(sentence_of("with", "f(x)", "exact=True"), begin + "`f(x)` is computed with `exact=True`.");
  EXPECT_EQ(sentence_of("sees itself", "x.add_(x.flip(0))", ""),
            begin + "`x.add_(x.flip(0))` reads elements that it has written already.");
  EXPECT_EQ(sentence_of("as", "round(x)", "floor(x)"), begin + "`round(x)` is computed as `floor(x)`.");
  EXPECT_EQ(sentence_of("in", "a + b", "torch.int64"), begin + "`a + b` is computed and kept in int64.");
  EXPECT_EQ(sentence_of("in", "", "torch.float32"), begin + "all of it is computed and kept in float32.");
  EXPECT_EQ(sentence_of("unwrapped", "a + 1", "torch.int16"), begin + "`a + 1` is not wrapped to int16.");
  EXPECT_EQ(sentence_of("unwrapped", "a + 1", "torch.int32"), begin + "`a + 1` overflows int32 and does not wrap.");
  EXPECT_EQ(sentence_of("divides by", "f(x)", "9"), begin + "`f(x)` divides by 9 everywhere.");
}

TEST(Explanation, QuotesTheModelSafely) {
  EXPECT_EQ(sentence_of("left out", "x[`a`]", ""), "Eager gives the same wrong result if `` x[`a`] `` is left out.");
}

} // namespace
} // namespace repro_minify
