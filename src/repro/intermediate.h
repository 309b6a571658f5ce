// The intermediate values of a Program, and Programs that return them. Internal to the pages.
#pragma once
#include "repro_minify/analysis.h"
#include "repro_minify/check.h"
#include "repro_minify/record.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct Intermediate {
  const torch::jit::Value *value; ///< of the recorded graph, made at the top level, a tensor
  int node;                       ///< index of what makes it
  bool is_written_later; ///< an in-place operator changes its memory afterwards: a copy has to be returned instead
};

/// Every tensor made at the top level, in graph order.
std::vector<Intermediate> intermediates(const Recording &recording);

/// Returns all of them, in that order, and nothing else.
Program expose_all(const Recording &recording, const std::vector<Intermediate> &values);

/// The program up to and including what makes `last`, which is all that it returns.
Program prefix(const Recording &recording, const Intermediate &last);

/// "file:line: text" of the model's source, as far as the archive has it; of a call of torch.fx its Python.
std::string source_line(const torch::jit::Node *node);

// Which values of a failing program are causes, and which only carry what is wrong before them.

/// True if the value is wrong, or the program that ends at it fails.
bool is_bad(const AnalysisRow &row);

/// True if the row is made from one that is wrong; `is_wrong` is by row.
bool reads_wrong(const AnalysisRow &row, const std::vector<char> &is_wrong);

/// Returns the rows at which a program that raises may begin to raise, and which were not asked yet, in order: those
/// that no passing row is made from, and that row `failing` is made from, if one is known to fail. `as_the_whole`, by
/// row: the program that ends there has the Signature of the whole one.
std::vector<std::size_t> rows_left_to_ask(const Analysis &analysis, const std::vector<bool> &as_the_whole,
                                          std::optional<std::size_t> failing);

/// Sets the first failing row of a program that fails, and the part that each row has in the failure: a value that is
/// wrong while all that it is made from is right is a cause, one that is made from something wrong carries it. A value
/// that is not known hands on what it is made from. In a program that raises, the first row that raises as the whole
/// does is the only cause, and all after it carry it.
void find_causes(Analysis &analysis, const std::vector<bool> &as_the_whole);

// Tests if the values of the optimised side follow from one another.

/// The job of a sandbox child. `exposed` returns all `values`: its optimised side is called `call` times, then each
/// operator is run by itself, as eager has it, on the values that were found before it. The reply says of each value
/// whether the operator makes of them what was found.
Job explain_job(std::shared_ptr<const Program> exposed, std::shared_ptr<const Backend> backend,
                const CheckOptions &options, const std::vector<Intermediate> &values, int call);

/// One for each value, as the reply has it; all false where it says nothing.
std::vector<char> explained_from(const std::string &reply, size_t values);

} // namespace repro_minify
