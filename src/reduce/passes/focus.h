// Where in recorded data the failure probably is: a smaller piece of the data is taken around it.
#pragma once
#include "reduce/passes/pass.h"

#include <map>
#include <optional>
#include <vector>

namespace repro_minify {

/// One element of each input that is data; the first element where nothing is known.
class Focus {
public:
  using Index = std::vector<std::int64_t>;

  void set(std::size_t input, Index index) { index_[input] = std::move(index); }
  bool operator==(const Focus &) const = default;
  /// Where `most` elements of a dimension begin that has `size`, so that the focus is among them.
  std::int64_t start(std::size_t input, std::size_t dimension, std::int64_t size, std::int64_t most) const;
  /// The index in this input, if there is one.
  const Index *of(std::size_t input) const;

private:
  std::map<std::size_t, Index> index_;
};

/// Where optimised and eager differ most, the most extreme elements of the data, the first elements. Different ones,
/// at least one.
std::vector<Focus> foci_of(const Program &program, const Verdict &verdict);

/// The element at `index`, the first one without it; nothing for what is_plain() does not hold of.
std::optional<double> element_at(const at::Tensor &tensor, const Focus::Index *index);

} // namespace repro_minify
