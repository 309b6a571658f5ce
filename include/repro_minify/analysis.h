// The Analysis: where do eager and optimised part? Every intermediate value of both sides against fp64, in dataflow
// order.
#pragma once
#include "repro_minify/check.h"
#include "repro_minify/record.h"
#include "repro_minify/sandbox.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// The values of the eager and the optimised side, as much of each as a person can look at: for pictures, never for a
// Verdict.

/// One tensor or number as eager and the optimised side have it.
struct ShownValue {
  std::vector<std::int64_t> sizes;
  bool is_complex = false;      ///< each element is two numbers, its real part and its imaginary one
  std::int64_t elements = 0;    ///< how many numbers there are
  std::vector<double> expected; ///< the first elements, row-major
  std::vector<double> found;    ///< the same of the optimised side; empty where it has none, or one of another shape
  /// The largest |expected - found| in each cell of a grid, row-major: the value as rows of its last dimension. NaN
  /// where one side alone is no number. Empty where `found` is.
  std::vector<double> errors;
  int rows = 0, columns = 0; ///< of the grid
  /// How many elements are off by 10^(first_decade + i) or more, and by less than ten times that.
  std::vector<std::int64_t> decades;
  int first_decade = 0;
  std::int64_t equal = 0;      ///< elements that are the same on both sides
  std::int64_t not_finite = 0; ///< elements that are no number, or infinite, on one side alone
};

struct BothSides {
  std::vector<ShownValue> outputs;   ///< the leaves of what forward returns, in their order
  std::vector<ShownValue> gradients; ///< in the order of Verdict::gradients
};

struct ShowOptions {
  int call = 1;      ///< which call of the optimised side is shown, 1-based
  int elements = 16; ///< how many of each value
  int cells = 24;    ///< the grid has no more rows and no more columns than this
};

/// Runs both sides once, in a sandbox child. Never throws for what the backend does: `found` is empty then.
BothSides both_sides(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend,
                     const CheckOptions &options, const ShowOptions &show, const Limits &limits);

/// One intermediate value: what one operator made, as it was right after it.
struct AnalysisRow {
  std::string value;          ///< its name in the graph, "%x"
  std::string op;             ///< "aten::linear"
  std::string source;         ///< "model.py:12: y = x * 2", as far as the archive has it; else empty
  std::string type;           ///< "float32[2, 3]"; empty where it was not recorded
  std::vector<int> reads;     ///< rows whose values it is made from, directly or through what has no row
  std::vector<int> inputs;    ///< inputs of the graph that it is made from, likewise
  bool reads_written = false; ///< one of these was written to in between, which the backend may have dropped
  bool is_output = false;     ///< the program returns it
  enum class State {
    Same,    ///< compared, and the same
    Differs, ///< compared, and fails the check
    Fails,   ///< the program up to here raises, crashes or hangs in the backend, or what is wrong in it is not this
             ///< value: a gradient, a buffer, an input that was written to
    Unknown, ///< not compared: made inside a block, not reached, or not needed to find the first failure
  };
  State state = State::Unknown;
  /// The part that the value plays in the failure.
  enum class Part {
    None,    ///< it is not wrong, or not known to be
    Cause,   ///< all that it is made from agrees, was not written to since, and it does not; or the program ends here
    Carrier, ///< something that it is made from is wrong already; or the program ends before it
  };
  Part part = Part::None;
  ShownValue shown;    ///< where AnalyzeOptions::shown_elements asks for it; `elements` 0: there is none
  LeafReport report;   ///< of eager against optimised (with their errors against fp64), where it was compared
  std::string message; ///< why it differs or raises, one line
};

struct Analysis {
  /// An input of the graph.
  struct Input {
    std::string name, type;
    Role role = Role::Input;
  };
  /// The way in which the values were computed.
  enum class Way {
    Exposed,  ///< one program that returns them all, and fails as the original does; what would be a cause was asked
              ///< again in a program that ends there
    Prefixes, ///< one program for each value that ends there: returning all at once changes what the backend does
  };
  Way way = Way::Exposed;
  std::string why; ///< for Prefixes: what forbade the other way
  std::vector<Input> inputs;
  std::vector<AnalysisRow> rows; ///< in dataflow order
  bool is_compared = true;       ///< false: AnalyzeOptions::most_checks forbade it, or nothing was asked (outline())
  std::optional<int> first;      ///< the first row that fails the check; nothing for a program that passes
  Verdict verdict;               ///< of the program as a whole
  int checks = 0;
};

struct AnalyzeOptions {
  CheckOptions check;
  Limits limits;
  int jobs = 1;
  std::function<bool()> interrupted;                   ///< polled; true ends the analysis: throws Interrupted
  std::function<void(int done, int of)> progress = {}; ///< after each check of a prefix
  int most_checks = 0;                                 ///< no more checks than this; 0: no limit
  int most_values = 0;    ///< with more values than this they are not returned all at once; 0: no limit
  int shown_elements = 0; ///< of each value of either side, for a picture; 0: none
};

/// Compares the intermediate values of both sides. `verdict` is that of the whole program; one that passes is analysed
/// too. Throws Interrupted, and std::runtime_error if the program cannot be recorded; nothing for what the backend
/// does.
Analysis analyze(const Program &program, const Verdict &verdict, std::shared_ptr<const Backend> backend,
                 const AnalyzeOptions &options);

/// analyze() beside other work: the first check starts in the constructor and runs until take().
class Analyzer {
public:
  Analyzer(const Verdict &verdict, std::shared_ptr<const Backend> backend, const AnalyzeOptions &options,
           std::shared_ptr<const Recording> recording);
  ~Analyzer(); ///< kills what runs
  /// Waits for the rest. Called once. Throws as analyze() does.
  Analysis take();

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the rows and the inputs of a program, with nothing compared.
Analysis outline(const Recording &recording);

/// Returns the part that a value plays, in a word or two: "cause", "carrier", "agrees", "differs", "fails here", "not
/// reached", "not compared".
std::string word_of(const AnalysisRow &row);
/// Returns how the values were computed: "Every value was returned by one program ...".
std::string sentence_on_way(const Analysis &analysis);
/// Returns "aten::linear, model.py:12: y = x * 2", or with the value's name where the source is not known.
std::string name_of(const AnalysisRow &row);

/// Returns the analysis as JSON text, for scripts.
std::string to_json(const Analysis &analysis);
/// Returns the analysis as a DOT graph: one node for each row, green where it is as good as eager, causes red, carriers
/// pale.
std::string to_dot(const Analysis &analysis);

} // namespace repro_minify
