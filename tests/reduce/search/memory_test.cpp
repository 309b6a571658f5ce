// Tests that an answer is known once it was given, and that the outcome of asking in vain is no answer.
#include "reduce/search_memory.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace repro_minify {
namespace {

/// Answers are numbers; the detail is who asked.
struct FakeJournal {
  std::map<std::string, int> lines;
  std::vector<std::string> who;

  const int *find(const std::string &key) const {
    const auto found = lines.find(key);
    return found == lines.end() ? nullptr : &found->second;
  }
  const int &append(const std::string &key, int answer, const std::string &by) {
    who.push_back(by);
    return lines[key] = answer;
  }
};
using Known = Memory<int, FakeJournal>;

TEST(Memory, KnowsWhatItLearntFirst) {
  Known memory(nullptr);
  EXPECT_EQ(memory.find("a"), nullptr);
  memory.learn("a", 1);
  EXPECT_EQ(memory.learn("a", 2), 1);
  EXPECT_EQ(*memory.find("a"), 1);
}

TEST(Memory, WritesDownWhatWasAsked) {
  const auto journal = std::make_shared<FakeJournal>();
  Known memory(journal);
  memory.learn("given", 1);
  EXPECT_EQ(memory.write_down("asked", 2, "cut"), 2);
  EXPECT_EQ(journal->lines, (std::map<std::string, int>{{"asked", 2}}));
  EXPECT_EQ(journal->who, std::vector<std::string>{"cut"});
  EXPECT_FALSE(memory.recall("asked").from_journal);
}

TEST(Memory, KeepsNothingTwice) {
  const auto journal = std::make_shared<FakeJournal>();
  journal->lines = {{"earlier", 7}};
  Known memory(journal);
  const int &written = memory.write_down("asked", 2, "cut");
  EXPECT_EQ(&written, &journal->lines.at("asked"));
  EXPECT_EQ(memory.find("asked"), &journal->lines.at("asked"));
  EXPECT_EQ(memory.recall("earlier").answer, &journal->lines.at("earlier"));
}

TEST(Memory, RecallsFromTheJournalOnce) {
  const auto journal = std::make_shared<FakeJournal>();
  journal->lines = {{"a", 7}};
  Known memory(journal);
  EXPECT_EQ(*memory.find("a"), 7); // to look is not to recall
  const auto first = memory.recall("a");
  EXPECT_TRUE(first.from_journal);
  EXPECT_EQ(*first.answer, 7);
  const auto second = memory.recall("a");
  EXPECT_FALSE(second.from_journal);
  EXPECT_EQ(*second.answer, 7);
  EXPECT_EQ(memory.recall("b").answer, nullptr);
}

TEST(Memory, KeepsWhatWasInVainApart) {
  Known memory(std::make_shared<FakeJournal>());
  memory.note_in_vain("a", 1);
  EXPECT_EQ(memory.note_in_vain("a", 2), 2);
  EXPECT_EQ(memory.find("a"), nullptr);
  EXPECT_EQ(*memory.in_vain("a"), 2);
  EXPECT_EQ(memory.in_vain("b"), nullptr);
}

/// A caller that was given a reference to an answer may hold on to it.
TEST(Memory, LeavesAnswersWhereTheyAre) {
  Known memory(nullptr);
  const int &first = memory.learn("a", 1);
  for (int i = 0; i < 1000; ++i)
    memory.learn("b" + std::to_string(i), i);
  EXPECT_EQ(&first, memory.find("a"));
}

} // namespace
} // namespace repro_minify
