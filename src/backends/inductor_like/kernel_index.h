// Where an element lies: an integer expression in loop variables, kept as a sum of multiples of non-negative atoms, so
// that views compose and most of the divisions of a reshape disappear again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace repro_minify {

class Index {
public:
  Index(int64_t constant = 0) : constant_(constant) {} // NOLINT: numbers are indices
  /// A loop variable that runs from 0 to extent - 1.
  static Index variable(const std::string &name, int64_t extent);

  Index operator+(const Index &other) const;
  /// `factor` is not negative.
  Index operator*(int64_t factor) const;
  /// Floor division and remainder, of what is never negative; `divisor` is positive.
  Index divided_by(int64_t divisor) const;
  Index modulo(int64_t divisor) const;

  /// Returns the index as C++; an atom that was divided keeps its brackets.
  std::string text() const;
  int64_t largest() const;
  /// The largest value on the way to it, what is divided included: what a type has to hold that it is computed in.
  int64_t largest_on_the_way() const;
  /// Returns the number that `variable` is multiplied with; 0 if it is not there on its own.
  int64_t coefficient(const std::string &variable) const;
  /// True if `variable` stands inside a division.
  bool is_divided(const std::string &variable) const;

  bool operator==(const Index &) const = default;

private:
  struct Term {
    int64_t factor = 0;
    int64_t largest = 0; ///< of the atom
    int64_t inside = 0;  ///< the largest value on the way to the atom
    bool operator==(const Term &) const = default;
  };
  static Index atom(const std::string &text, int64_t largest, int64_t inside);
  /// The terms that are multiples of `divisor`, divided by it, and the rest.
  std::pair<Index, Index> split(int64_t divisor) const;

  int64_t constant_ = 0;
  std::map<std::string, Term> terms_;
};

/// Position in memory of an element: the sum of index * stride.
Index flat_index(const std::vector<Index> &indices, const std::vector<int64_t> &strides);
/// The indices of the element at position `flat` of a contiguous tensor.
std::vector<Index> unflatten(const Index &flat, const std::vector<int64_t> &sizes);
std::vector<int64_t> contiguous_strides(const std::vector<int64_t> &sizes);

} // namespace repro_minify
