// Is a difference a bug or rounding? It is one of a few kinds, which rules tell apart by evidence.
#pragma once
#include "repro_minify/check.h"

#include <limits>
#include <optional>
#include <string>

namespace repro_minify {

/// How far the failing result of eager itself moves when something changes that should not matter. Distances are
/// absolute; NaN: not known.
struct Movement {
  int operators = 0;   ///< calls of operators that compute; 0: not known, as eager runs in another process
  bool orders = false; ///< one of them orders elements: argmax, sort, topk
  /// The largest change of an element after each floating-point number of the inputs, the parameters and the buffers
  /// was moved by one unit in the last place of its dtype, up or down at random: the largest of three runs.
  double by_rounding = std::numeric_limits<double>::quiet_NaN();
  /// The largest change of an element when random numbers are drawn with another seed; 0 where none are drawn.
  double by_seed = std::numeric_limits<double>::quiet_NaN();
};

/// Runs eager again, in a sandbox, as the Check did, and measures how far the result moves in which `verdict` shows
/// `failure`, a difference of values. Nothing is known if eager does not end this time.
Movement movement_of_eager(const ModuleFactory &factory, std::shared_ptr<const Backend> backend,
                           const CheckOptions &options, const Verdict &verdict, const Signature &failure,
                           const Limits &limits);

struct Nature {
  /// The evidence that the rules look at.
  struct Facts {
    const Verdict &verdict;
    const Signature &failure;
    Movement movement;
    int operators = 0; ///< of the program, each of which may round; 0: as many as eager called
    std::optional<bool> reads_unwritten = std::nullopt; ///< as reads_unwritten_memory() has it
    /// True if it fails where the backend rounds after each cast as eager does (emulate_precision_casts of
    /// TorchInductor).
    std::optional<bool> fails_with_rounded_casts = std::nullopt;
    bool is_command = false; ///< the backend is a `command:`, whose program seeds its generators itself
  };
  enum class Kind {
    WrongValue,      ///< more than rounding explains
    Rounding,        ///< each operator rounds, and the two sides round differently
    IllConditioned,  ///< eager itself moves as much when its inputs move in the last place
    Cast,            ///< fusion leaves out the rounding of a cast
    Tie,             ///< elements are equal or nearly so, and which comes first is not defined
    UnwrittenMemory, ///< the backend returns what lay in memory
    RandomNumbers,   ///< the two sides draw different random numbers
  };
  Kind kind = Kind::WrongValue;
  std::string why;                                         ///< the evidence, a sentence to put behind a colon
  double units = std::numeric_limits<double>::quiet_NaN(); ///< how far off the worst element is, in the last place
};
/// "wrong value", "rounding", "ill-conditioned", "cast", "tie or order", "uninitialised memory", "random numbers".
const char *to_string(Nature::Kind kind);
/// "rounding: " and the evidence.
std::string to_string(const Nature &nature);

/// Nothing where the failure is no difference of values (an exception, a dtype, a shape). The rules, in their order,
/// are those of docs/comparison.md.
std::optional<Nature> nature_of(const Nature::Facts &facts);

} // namespace repro_minify
