// Guesses at what will be asked.
#pragma once
#include "reduce/questions/futures.h"
#include "repro_minify/sandbox.h"

#include <functional>
#include <optional>
#include <string>

namespace repro_minify {

/// By a question's hash.
using Assumptions = AssumedAnswers<std::string>;

/// A question that may be asked, if the answers to others are as assumed.
struct Guess {
  std::string hash;
  std::function<Job()> make_job; ///< what finds out; an empty Job where nobody has to be asked
  Assumptions assumed = {};
};
/// One that is made when somebody is free to look at it.
using LazyGuess = std::function<Guess()>;

/// Says what may be asked after the question that is asked now.
class Foresight {
public:
  virtual ~Foresight() = default;
  /// The likeliest of those that were not named yet; nothing when none is left that is worth it.
  virtual std::optional<Guess> next() = 0;
};

} // namespace repro_minify
