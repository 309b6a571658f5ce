// Which checks run, and which are killed, on a pool that ends them when it is told to.
#include "reduce/search_under_way.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace repro_minify {
namespace {

using namespace std::chrono_literals;

/// Nothing is forked: a job is asked for its name when it is submitted.
class FakePool {
public:
  using Ticket = std::uint64_t;

  explicit FakePool(int workers) : workers_(workers) {}

  int workers() const { return workers_; }
  bool has_free_worker() const { return static_cast<int>(running_.size()) < workers_; }
  Ticket submit(const Job &job, const Limits &limits) {
    timeouts.push_back(limits.timeout);
    running_[++last_] = name_of(job);
    return last_;
  }
  bool ready(Ticket ticket) const { return ended_.count(ticket) > 0; }
  /// Ends the job if it still runs, and returns its end; nothing if the job still runs and `stop` says so.
  std::optional<JobEnd> wait(Ticket ticket, const std::function<bool()> &stop = {}) {
    if (!ready(ticket) && stop && stop())
      return std::nullopt;
    if (!ready(ticket))
      end(running_.at(ticket));
    auto taken = ended_.extract(ticket);
    return std::move(taken.mapped());
  }
  void cancel(Ticket ticket) {
    if (running_.count(ticket))
      cancelled.insert(running_.at(ticket));
    running_.erase(ticket);
    ended_.erase(ticket);
  }

  void end(const std::string &name) {
    for (auto it = running_.begin(); it != running_.end(); ++it)
      if (it->second == name) {
        JobEnd job_end;
        job_end.ending = Ending::Replied;
        job_end.reply = "of " + name;
        ended_[it->first] = job_end;
        running_.erase(it);
        return;
      }
  }
  std::set<std::string> running() const {
    std::set<std::string> names;
    for (const auto &[ticket, name] : running_)
      names.insert(name);
    return names;
  }

  std::set<std::string> cancelled;
  std::vector<std::chrono::milliseconds> timeouts;

private:
  struct Name : Child {
    std::string text;
    void stage(std::string_view) override {}
    void reply(std::string_view bytes) override { text = bytes; }
  };
  static std::string name_of(const Job &job) {
    Name name;
    job(name);
    return name.text;
  }

  int workers_;
  Ticket last_ = 0;
  std::map<Ticket, std::string> running_;
  std::map<Ticket, JobEnd> ended_;
};

std::function<Job()> job(const std::string &name) {
  return [name] { return Job([name](Child &child) { child.reply(name); }); };
}

LazyGuess guess(const std::string &name, const Assumptions &assumed = {}) {
  return [=] { return Guess{name, job(name), assumed}; };
}

class UnderWay : public testing::Test {
protected:
  using Checks = ChecksUnderWay<std::string, FakePool>;

  /// Asks, with what may come next, and has idle workers at it.
  void ask(const std::string &name, std::vector<LazyGuess> named = {}) {
    Upcoming upcoming(std::move(named), {});
    checks.ask(name, job(name), timeout, upcoming);
    checks.keep_busy(upcoming, timeout);
  }
  std::string answer(const std::string &name) { return checks.take(name, {})->answer; }

  static constexpr auto timeout = 5s;
  FakePool pool{3};
  std::map<std::string, bool> settled;
  Checks checks{pool, Limits{}, [](const JobEnd &job_end) { return "read " + job_end.reply; },
                [this](const std::string &hash) {
                  const auto found = settled.find(hash);
                  return found == settled.end() ? std::nullopt : std::optional(found->second);
                }};
};

using Names = std::set<std::string>;

TEST_F(UnderWay, AsksAndReads) {
  ask("a");
  EXPECT_TRUE(checks.has("a"));
  EXPECT_FALSE(checks.is_there());
  pool.end("a");
  EXPECT_TRUE(checks.is_there());
  const auto ended = checks.take("a", {});
  EXPECT_EQ(ended->answer, "read of a");
  EXPECT_EQ(ended->timeout, timeout);
  EXPECT_FALSE(checks.has("a"));
}

TEST_F(UnderWay, GoesOnWhenItsWaitIsStopped) {
  ask("a");
  EXPECT_FALSE(checks.take("a", [] { return true; }));
  EXPECT_TRUE(checks.has("a"));
  EXPECT_EQ(answer("a"), "read of a");
}

TEST_F(UnderWay, GivesIdleWorkersWhatComesNext) {
  ask("a", {guess("b"), guess("c"), guess("d")});
  EXPECT_EQ(pool.running(), (Names{"a", "b", "c"}));
  EXPECT_EQ(checks.started(), 3);
}

TEST_F(UnderWay, GuessesNothingForOneWorker) {
  FakePool one(1);
  Checks alone(
      one, Limits{}, [](const JobEnd &) { return ""; }, [](const auto &) { return std::nullopt; });
  Upcoming upcoming({guess("b")}, {});
  alone.ask("a", job("a"), timeout, upcoming);
  EXPECT_EQ(one.running(), Names{"a"});
  one.end("a");
  alone.keep_busy(upcoming, timeout);
  EXPECT_EQ(one.running(), Names{});
}

TEST_F(UnderWay, HasAnswersToGuessesBeforeTheyAreAsked) {
  ask("a", {guess("b")});
  pool.end("b");
  EXPECT_EQ(checks.early("b"), nullptr); // not taken from the pool yet
  settled["a"] = true;
  answer("a");
  ask("c", {guess("b")});
  ASSERT_NE(checks.early("b"), nullptr);
  EXPECT_EQ(checks.early("b")->answer, "read of b");
  settled["c"] = true;
  answer("c");
  ask("b");
  EXPECT_EQ(answer("b"), "read of b");
  EXPECT_EQ(checks.started(), 3); // a, b, c: each once
}

TEST_F(UnderWay, StartsNothingThatIsSettledOrNeedsNoCheck) {
  settled["b"] = false;
  ask("a", {guess("b"), [] { return Guess{"c", [] { return Job(); }, {}}; }, guess("a"), guess("d")});
  EXPECT_EQ(pool.running(), (Names{"a", "d"}));
}

TEST_F(UnderWay, KillsWhatIsDisproved) {
  ask("a", {guess("if a", {{"a", true}}), guess("if not a", {{"a", false}})});
  answer("a");
  settled["a"] = false;
  ask("b");
  EXPECT_EQ(pool.cancelled, Names{"if a"});
  EXPECT_EQ(pool.running(), (Names{"b", "if not a"})); // what it rests on still holds
}

TEST_F(UnderWay, NeverKillsWhatIsAsked) {
  ask("a", {guess("b", {{"a", true}})});
  answer("a");
  settled["a"] = false;
  ask("b");
  EXPECT_TRUE(pool.cancelled.empty());
  EXPECT_EQ(answer("b"), "read of b");
}

TEST_F(UnderWay, KillsWhatNothingSpeaksFor) {
  ask("a", {guess("b"), guess("c")});
  answer("a");
  settled["a"] = true;
  ask("d", {guess("c")});
  EXPECT_EQ(pool.cancelled, Names{"b"});
  EXPECT_EQ(pool.running(), (Names{"c", "d"}));
}

/// Both guesses may still be asked, and one worker is needed: the one begun last has done the least.
TEST_F(UnderWay, MakesRoomForWhatIsAsked) {
  ask("a", {guess("b", {{"later", true}}), guess("c", {{"later", true}})});
  pool.end("a");
  answer("a");
  settled["a"] = true;
  ask("d", {guess("e", {{"later", true}})});
  EXPECT_EQ(pool.running(), (Names{"b", "c", "d"})); // a's worker was free
  answer("d");
  settled["d"] = true;
  Upcoming nothing({}, {});
  checks.start("e", job("e")(), timeout, {{"later", true}});
  checks.ask("f", job("f"), timeout, nothing);
  EXPECT_EQ(pool.cancelled, Names{"e"});
  EXPECT_EQ(pool.running(), (Names{"b", "c", "f"}));
}

TEST_F(UnderWay, ForgetsGuessesThatNothingCameOf) {
  constexpr int many = 64 * 3 + 10; // three workers
  for (int i = 0; i < many; ++i) {
    const std::string asked = "asked " + std::to_string(i), guessed = "guessed " + std::to_string(i);
    ask(asked, {guess(guessed)});
    pool.end(guessed);
    pool.end(asked);
    settled[asked] = true;
    answer(asked);
  }
  ask("last");
  EXPECT_FALSE(checks.has("guessed 0"));
  EXPECT_TRUE(checks.has("guessed " + std::to_string(many - 1)));
  EXPECT_EQ(checks.early("guessed " + std::to_string(many - 1))->job_end.reply, ""); // it has been read
}

TEST_F(UnderWay, StopsAll) {
  ask("a", {guess("b")});
  checks.stop_all();
  EXPECT_TRUE(pool.running().empty());
  EXPECT_FALSE(checks.has("a"));
  checks.start("a", job("a")(), 60s); // asked again, with more time
  EXPECT_EQ(pool.timeouts.back(), 60s);
  EXPECT_EQ(checks.take("a", {})->timeout, 60s);
}

} // namespace
} // namespace repro_minify
