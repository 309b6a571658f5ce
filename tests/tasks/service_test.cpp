// Questions that a process which is kept answers one after the other.
#include "jobs.h"
#include "repro_minify/sandbox.h"
#include "tasks/shared_area.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace repro_minify {
namespace {

using sandbox_test::within;
using namespace std::chrono_literals;

using Answer = std::function<void(Child &, const std::string &)>;

/// Returns a service; `is_as_before` is true unless given.
std::shared_ptr<const Service> service(
    Answer answer, std::function<bool()> is_as_before = [] { return true; }, int most_questions = 200) {
  return std::make_shared<Service>(Service{std::move(answer), std::move(is_as_before), most_questions});
}

Job question(const std::shared_ptr<const Service> &asked, const std::string &text) {
  return {asked, [text] { return text; }};
}

std::shared_ptr<const Service> process_number(
    std::function<bool()> is_as_before = [] { return true; }, int most_questions = 200) {
  return service([](Child &child, const std::string &) { child.reply(std::to_string(getpid())); },
                 std::move(is_as_before), most_questions);
}

/// Hangs when asked to "hang", and repeats anything else.
std::shared_ptr<const Service> echo_or_hang() {
  return service([](Child &child, const std::string &text) {
    if (text == "hang")
      for (;;)
        pause();
    child.reply(text);
  });
}

/// Asks `count` questions one after the other, and returns how many processes answered.
std::size_t processes_that_answer(TaskGroup &pool, const std::shared_ptr<const Service> &asked, int count) {
  std::set<std::string> processes;
  for (int i = 0; i < count; ++i) {
    const auto answer = pool.wait(pool.submit(question(asked, ""), within(60s)));
    EXPECT_NE(answer->reply, "") << "no answer: " << to_string(answer->ending);
    processes.insert(answer->reply);
  }
  return processes.size();
}

TEST(Service, OneProcessAnswersOneQuestionAfterTheOther) {
  TaskGroup pool(1);
  const auto doubled = service([](Child &child, const std::string &text) { child.reply(text + text); });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(pool.wait(pool.submit(question(doubled, std::to_string(i)), within(60s)))->reply,
              std::to_string(i) + std::to_string(i));
  EXPECT_EQ(processes_that_answer(pool, process_number(), 20), 1);
}

TEST(Service, AWorkerHasOneProcess) {
  TaskGroup pool(3);
  const auto asked = process_number();
  std::set<std::string> processes;
  for (int round = 0; round < 5; ++round) {
    std::vector<TaskGroup::Ticket> tickets;
    for (int i = 0; i < 6; ++i)
      tickets.push_back(pool.submit(question(asked, ""), within(60s)));
    for (const auto ticket : tickets)
      processes.insert(pool.wait(ticket)->reply);
  }
  EXPECT_LE(processes.size(), 3);
  EXPECT_FALSE(processes.contains("")) << "a question without an answer";
}

TEST(Service, EndsItsProcessWhenSomethingIsLeftBehind) {
  TaskGroup pool(1);
  EXPECT_EQ(processes_that_answer(pool, process_number([] { return false; }), 4), 4);
  EXPECT_EQ(processes_that_answer(pool, process_number([]() -> bool { throw std::runtime_error("gone"); }), 4), 4);
  EXPECT_EQ(processes_that_answer(pool, process_number([] { return true; }, 2), 4), 2);
}

/// The second answer of each process is wrong, and nothing but is_as_before() shows it.
TEST(Service, AnAnswerAfterWhichTheProcessIsNotAsBeforeIsAskedForAgain) {
  TaskGroup pool(1);
  const auto answers = std::make_shared<int>(0);
  const auto asked =
      service([answers](Child &child, const std::string &) { child.reply(++*answers == 2 ? "wrong" : "right"); },
              [answers] { return *answers != 2; });
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(pool.wait(pool.submit(question(asked, ""), within(60s)))->reply, "right");
}

TEST(Service, AnotherServiceHasAProcessOfItsOwn) {
  TaskGroup pool(1);
  EXPECT_EQ(processes_that_answer(pool, process_number(), 2), 1);
  const auto number = std::to_string(1);
  const auto other = service([](Child &child, const std::string &text) { child.reply(text); });
  EXPECT_EQ(pool.wait(pool.submit(question(other, number), within(60s)))->reply, number);
}

TEST(Service, ALimitInTimeIsThatOfTheQuestion) {
  TaskGroup pool(1);
  const auto asked = echo_or_hang();
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "first"), within(60s)))->reply, "first");
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "hang"), within(200ms)))->ending, Ending::TimedOut);
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "last"), within(60s)))->reply, "last");
}

TEST(Service, NothingOfAnEarlierQuestionIsToldOfALaterOne) {
  TaskGroup pool(1);
  const auto asked = service([](Child &child, const std::string &text) {
    if (text == "loud") {
      child.stage("loud");
      (void)!write(STDERR_FILENO, "much", 4);
      child.reply(std::string(1000, 'x'));
    }
  });
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "loud"), within(60s)))->stage, "loud");
  const auto quiet = pool.wait(pool.submit(question(asked, "quiet"), within(60s)));
  EXPECT_EQ(quiet->stage, "");
  EXPECT_EQ(quiet->reply, "");
  EXPECT_EQ(quiet->output_tail, "");
}

TEST(Service, AHelperOfTheProcessCountsForTheNextQuestionToo) {
  SharedArea area(4096);
  area.set_helper(getpid());
  area.set_stage("first");
  ASSERT_TRUE(area.put_question("next", 0ns));
  EXPECT_EQ(area.helper(), getpid());
  EXPECT_EQ(area.stage(), "");
}

/// How a question may end the process, or leave it so that the next question ends it.
struct Spoiler {
  const char *name;
  std::function<void()> spoil;
};

void PrintTo(const Spoiler &spoiler, std::ostream *out) {
  *out << spoiler.name;
}

class SpoiltProcess : public testing::TestWithParam<Spoiler> {};

bool is_spoilt = false;

TEST_P(SpoiltProcess, IsNotAskedForTheNextAnswer) {
  TaskGroup pool(1);
  const auto asked = service([spoil = GetParam().spoil](Child &child, const std::string &text) {
    if (is_spoilt)
      std::abort();
    if (text == "spoil")
      spoil();
    child.reply(text);
  });
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "first"), within(60s)))->reply, "first");
  const auto spoilt = pool.wait(pool.submit(question(asked, "spoil"), within(2s)));
  for (const char *text : {"one", "two"})
    EXPECT_EQ(pool.wait(pool.submit(question(asked, text), within(60s)))->reply, text)
        << "after " << to_string(spoilt->ending);
}

INSTANTIATE_TEST_SUITE_P(By, SpoiltProcess,
                         testing::Values(Spoiler{"crash", [] { std::abort(); }}, Spoiler{"exit", [] { _exit(3); }},
                                         Spoiler{"exception", [] { throw std::runtime_error("no"); }},
                                         Spoiler{"no_memory", [] { throw std::bad_alloc(); }},
                                         Spoiler{"crash_of_the_next", [] { is_spoilt = true; }},
                                         Spoiler{"closed_descriptors", [] { close_range(STDERR_FILENO + 1, ~0U, 0); }},
                                         Spoiler{"stopped", [] { raise(SIGSTOP); }},
                                         Spoiler{"killed", [] { raise(SIGKILL); }}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Service, WhatEndsAFreshProcessIsTheAnswer) {
  TaskGroup pool(1);
  const auto asked = service([](Child &child, const std::string &text) {
    if (text == "crash")
      std::abort();
    child.reply(text);
  });
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "fine"), within(60s)))->reply, "fine");
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "crash"), within(60s)))->ending, Ending::Crashed);
}

TEST(Service, AQuestionThatCannotBePassedOnIsAskedOfAFreshProcess) {
  TaskGroup pool(1);
  const auto length = service([](Child &child, const std::string &text) { child.reply(std::to_string(text.size())); });
  Limits small = within(60s);
  small.reply_capacity = 4096;
  EXPECT_EQ(pool.wait(pool.submit(question(length, "four"), small))->reply, "4");
  EXPECT_EQ(pool.wait(pool.submit(question(length, std::string(10'000, 'x')), small))->reply, "10000");
}

TEST(Service, ACancelledQuestionEndsItsProcessAlone) {
  TaskGroup pool(1);
  const auto asked = echo_or_hang();
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "first"), within(60s)))->reply, "first");
  const auto ticket = pool.submit(question(asked, "hang"), within(60s));
  pool.cancel(ticket);
  EXPECT_EQ(pool.wait(ticket)->ending, Ending::Cancelled);
  EXPECT_EQ(pool.wait(pool.submit(question(asked, "next"), within(60s)))->reply, "next");
}

} // namespace
} // namespace repro_minify
