// The questions that may be asked next: those that the pass names, then those of the Foresight. Each is made once, and
// not before it is needed.
#pragma once
#include "reduce/questions/foresight.h"

#include <memory>
#include <vector>

namespace repro_minify {

using MakeForesight = std::function<std::unique_ptr<Foresight>()>;

class Upcoming {
public:
  /// `make_foresight` may be empty.
  Upcoming(std::vector<LazyGuess> named, MakeForesight make_foresight)
      : named_(std::move(named)), made_(named_.size()), make_foresight_(std::move(make_foresight)) {}

  /// True if the pass has named it.
  bool names(const std::string &hash) {
    for (std::size_t i = 0; i < made_.size(); ++i)
      if (at(i).hash == hash)
        return true;
    return false;
  }
  /// The next one that next() has not returned yet.
  std::optional<Guess> next() {
    if (next_ < made_.size())
      return at(next_++);
    if (!foresight_ && make_foresight_)
      foresight_ = make_foresight_();
    return foresight_ ? foresight_->next() : std::nullopt;
  }

private:
  const Guess &at(std::size_t i) {
    if (!made_[i])
      made_[i] = named_[i]();
    return *made_[i];
  }

  const std::vector<LazyGuess> named_;
  std::vector<std::optional<Guess>> made_;
  std::size_t next_ = 0;
  const MakeForesight make_foresight_;
  std::unique_ptr<Foresight> foresight_;
};

} // namespace repro_minify
