#include "backends/inductor_like/kernel_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

Index Index::variable(const std::string &name, int64_t extent) {
  return extent <= 1 ? Index(0) : atom(name, extent - 1, extent - 1);
}

Index Index::atom(const std::string &text, int64_t largest, int64_t inside) {
  Index index;
  if (largest > 0)
    index.terms_[text] = {1, largest, inside};
  return index;
}

Index Index::operator+(const Index &other) const {
  Index sum = *this;
  sum.constant_ += other.constant_;
  for (const auto &[text, term] : other.terms_) {
    Term &mine = sum.terms_[text];
    mine = {mine.factor + term.factor, term.largest, term.inside};
  }
  return sum;
}

Index Index::operator*(int64_t factor) const {
  Index product(constant_ * factor);
  if (factor != 0)
    for (const auto &[text, term] : terms_)
      product.terms_[text] = {term.factor * factor, term.largest, term.inside};
  return product;
}

std::pair<Index, Index> Index::split(int64_t divisor) const {
  Index whole(constant_ / divisor), rest(constant_ % divisor);
  for (const auto &[text, term] : terms_)
    if (term.factor % divisor == 0)
      whole.terms_[text] = {term.factor / divisor, term.largest, term.inside};
    else
      rest.terms_[text] = term;
  return {whole, rest};
}

Index Index::divided_by(int64_t divisor) const {
  if (divisor == 1)
    return *this;
  const auto [whole, rest] = split(divisor);
  if (rest.largest() < divisor)
    return whole;
  // (4 i + 4 j) / 8 is (i + j) / 2.
  int64_t common = std::gcd(divisor, rest.constant_);
  for (const auto &[text, term] : rest.terms_)
    common = std::gcd(common, term.factor);
  if (common > 1)
    return whole + rest.split(common).first.divided_by(divisor / common);
  return whole + atom("((" + rest.text() + ") / " + std::to_string(divisor) + ")", rest.largest() / divisor,
                      std::max(divisor, rest.largest_on_the_way()));
}

Index Index::modulo(int64_t divisor) const {
  if (divisor <= 1) // 0: where there are no elements
    return Index(0);
  Index rest = split(divisor).second;
  if (rest.largest() < divisor)
    return rest;
  return atom("((" + rest.text() + ") % " + std::to_string(divisor) + ")", divisor - 1,
              std::max(divisor, rest.largest_on_the_way()));
}

std::string Index::text() const {
  std::string text;
  for (const auto &[name, term] : terms_)
    text += (text.empty() ? "" : " + ") + (term.factor == 1 ? name : std::to_string(term.factor) + " * " + name);
  if (constant_ != 0 || text.empty())
    text += (text.empty() ? "" : " + ") + std::to_string(constant_);
  return text;
}

int64_t Index::largest() const {
  int64_t sum = constant_;
  for (const auto &[text, term] : terms_)
    sum += term.factor * term.largest;
  return sum;
}

int64_t Index::largest_on_the_way() const {
  int64_t most = largest(); // all terms are positive: no part of the sum is larger
  for (const auto &[text, term] : terms_)
    most = std::max({most, term.factor, term.inside});
  return most;
}

int64_t Index::coefficient(const std::string &variable) const {
  const auto found = terms_.find(variable);
  return found == terms_.end() ? 0 : found->second.factor;
}

bool Index::is_divided(const std::string &variable) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const auto &entry) {
    const std::string &text = entry.first;
    if (text.front() != '(')
      return false;
    for (size_t at = text.find(variable); at != std::string::npos; at = text.find(variable, at + 1))
      if (const size_t end = at + variable.size(); end == text.size() || text[end] < '0' || text[end] > '9')
        return true;
    return false;
  });
}

Index flat_index(const std::vector<Index> &indices, const std::vector<int64_t> &strides) {
  Index flat;
  for (size_t d = 0; d < indices.size(); ++d)
    flat = flat + indices[d] * strides[d];
  return flat;
}

std::vector<Index> unflatten(const Index &flat, const std::vector<int64_t> &sizes) {
  const auto strides = contiguous_strides(sizes);
  std::vector<Index> indices;
  for (size_t d = 0; d < sizes.size(); ++d)
    indices.push_back(sizes[d] == 1 ? Index(0)
                      : d == 0      ? flat.divided_by(strides[d])
                                    : flat.divided_by(strides[d]).modulo(sizes[d]));
  return indices;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(1, sizes[d]);
  return strides;
}

} // namespace repro_minify
