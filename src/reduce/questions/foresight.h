// Guesses at what will be asked.
#pragma once
#include "reduce/questions/futures.h"
#include "repro_minify/sandbox.h"

#include <functional>
#include <optional>
#include <string>

namespace repro_minify {

/// The assumed answers to questions, by the question's hash.
using Assumptions = AssumedAnswers<std::string>;

/// A question that may be asked, if the answers to others are as assumed.
struct Guess {
  std::string hash;
  std::function<Job()> make_job; ///< makes the check that answers it; an empty Job where none is needed
  Assumptions assumed = {};
};
/// A Guess that is made only when it is needed.
using LazyGuess = std::function<Guess()>;

/// Says what may be asked after the question that is asked now.
class Foresight {
public:
  virtual ~Foresight() = default;
  /// The likeliest of those that were not named yet; nothing when none is left that is worth it.
  virtual std::optional<Guess> next() = 0;
};

} // namespace repro_minify
