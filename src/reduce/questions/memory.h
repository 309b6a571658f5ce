// What is known of questions: what this run was answered, and what the journal of an earlier one has.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace repro_minify {

/// A `Journal` has find(key), which points to an Answer or to nothing, and append(key, answer, details...).
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

  struct Recalled {
    const Answer *answer;
    bool from_journal; ///< and never recalled before
  };
  Recalled recall(const std::string &key) {
    const Answer *answer = find(key);
    const bool from_journal = answer && !known_.count(key);
    return {from_journal ? &learn(key, *answer) : answer, from_journal};
  }

  /// What nobody had to be asked for. The first that is learnt stays.
  const Answer &learn(const std::string &key, Answer answer) {
    return known_.emplace(key, std::move(answer)).first->second;
  }
  /// What somebody was asked for; into the journal, with the details that it wants.
  template <typename... Details>
  const Answer &write_down(const std::string &key, Answer answer, const Details &...details) {
    if (journal_)
      journal_->append(key, answer, details...);
    return learn(key, std::move(answer));
  }

  /// What came of asking in vain: no answer, kept apart from them; the last time counts.
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
  std::map<std::string, Answer> in_vain_;
};

} // namespace repro_minify
