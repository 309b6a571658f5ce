// The known answers to questions: those that this run was given, and those in the journal of an earlier one.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace repro_minify {

/// A `Journal` has find(key), which points to an Answer or to nothing, and append(key, answer, details...), which
/// returns the Answer that it keeps. What the journal keeps is not kept here once more.
template <typename Answer, typename Journal> class Memory {
public:
  /// `journal` may be null.
  explicit Memory(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}

  /// Null where nothing is known.
  const Answer *find(const std::string &key) const {
    if (const auto known = known_.find(key); known != known_.end())
      return &known->second;
    return journal_ ? journal_->find(key) : nullptr;
  }

  /// The answer that this run has been told: nothing that only an earlier one was.
  const Answer *told(const std::string &key) const {
    return known_.count(key) || seen_in_journal_.count(key) ? find(key) : nullptr;
  }

  struct Recalled {
    const Answer *answer;
    bool from_journal; ///< and never recalled before
  };
  Recalled recall(const std::string &key) {
    const Answer *answer = find(key);
    return {answer, answer && !known_.count(key) && seen_in_journal_.insert(key).second};
  }

  /// Keeps an answer that is known without asking. The first that is learnt stays.
  const Answer &learn(const std::string &key, Answer answer) {
    return known_.emplace(key, std::move(answer)).first->second;
  }
  /// Keeps an answer that was asked for: in the journal, if there is one, with the details that it wants.
  template <typename... Details>
  const Answer &write_down(const std::string &key, Answer answer, const Details &...details) {
    if (!journal_)
      return learn(key, std::move(answer));
    seen_in_journal_.insert(key);
    return journal_->append(key, std::move(answer), details...);
  }

  /// Keeps the outcome of asking in vain, which is no answer, apart from the answers; the last time counts.
  const Answer &note_in_vain(const std::string &key, Answer answer) {
    return in_vain_.insert_or_assign(key, std::move(answer)).first->second;
  }
  const Answer *in_vain(const std::string &key) const {
    const auto found = in_vain_.find(key);
    return found == in_vain_.end() ? nullptr : &found->second;
  }

private:
  std::shared_ptr<Journal> journal_;
  std::map<std::string, Answer> known_;
  std::set<std::string> seen_in_journal_; ///< keys of what was written down or recalled
  std::map<std::string, Answer> in_vain_;
};

} // namespace repro_minify
