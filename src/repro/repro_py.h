// repro.py and model.pt2, for backends that are used from Python.
#pragma once
#include "core/json.h"
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

// The test by which a repro tells that its failure shows: the rule in force, as far as it can be had from PyTorch
// alone, without a float64 run.

struct Predicate {
  enum class Form {
    Close,     ///< not allclose within rtol and atol
    Rms,       ///< the root mean square of the difference is over `limit`
    Bound,     ///< an element is off by more than limit + rtol * max(1, |expected|)
    Exact,     ///< another bit, but that any NaN equals any other
    Equal,     ///< integers or bools that are not equal
    Direction, ///< not allclose within rtol and atol, nor of a cosine of `limit` or more
    Overlap,   ///< bools whose intersection over union is less than `limit`
  };
  Form form = Form::Close;
  double rtol = 0, atol = 0, limit = 0;
  bool equal_nan = true;
  bool relative_to_expected = false; ///< of the tolerance: as in assert_close; otherwise to what is found, as in `same`
  bool as_it_is = false;             ///< the results are compared in their own dtype; otherwise as float64
  bool floating_only = false;        ///< --ignore-non-fp
  bool quantised = false;            ///< they have to be dequantised first
  std::string why;                   ///< one line for a comment
};
/// Returns the form as the templates of both repros name it: "close".
const char *to_string(Predicate::Form form);
/// For a failure of the kind accuracy, nan or gradient.
Predicate predicate_of(const ReproFacts &facts);

/// Returns what emit.py and ahead_of_time.py are told of a failure.
json facts_for_python(const ReproFacts &facts);
/// Writes repro.py in its plainest way and what it reads, where the backend is one of Python.
void write_repro_py(const Program &program, const ReproFacts &facts, const std::string &folder);

/// Why there can be no write_package() of such a failure; empty: there may be one.
std::string why_no_package(const ReproFacts &facts);
/// model.pt2, which repro.cpp loads where the backend is used from Python: the program compiled ahead of time. Returns
/// why there is none; empty if it is there and fails in the same way. Compiles for eight seconds: call it in a sandbox
/// child.
std::string write_package(const Program &program, const ReproFacts &facts, const std::string &folder);
/// repro.cpp where there is none: it says why, and runs repro.py.
void write_runner(const Program &program, const ReproFacts &facts, const std::string &folder);

// The CMakeLists.txt beside repro.cpp.

/// Returns the text for a repro.cpp that calls LibTorch, and links `libraries` beside it ("dl"). `has_operators`: it
/// loads libraries of operators itself.
std::string repro_cmake_lists(const std::vector<std::string> &libraries, bool has_operators);

// The function `differs` of a repro: whether one result shows the failure.

/// Returns the function in C++; empty for a failure that no result shows. `complex`: results may be complex tensors;
/// `plain`: they may be values that are no tensors, numbers or text.
std::string differs_function(const ReproFacts &facts, bool complex, bool plain);

/// Returns a condition in C++ on the tensors `expected` and `found` that holds where the failure does not show; empty
/// for a rule that takes more than one call. Complex and quantised tensors are not for it.
std::string same_condition(const ReproFacts &facts);

/// Returns the values from which repro.py's comparison is written.
json differs_json(const ReproFacts &facts);

} // namespace repro_minify
