#include "backends/inductor_like/kernel_body.h"

#include "backends/inductor_like/kernel_index.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>

namespace repro_minify {
namespace {

bool is_atom(const std::string &expression) {
  return std::all_of(expression.begin(), expression.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

} // namespace

std::string Body::local(const std::string &type, const std::string &expression) {
  if (is_atom(expression))
    return expression;
  auto [known, is_new] = known_.try_emplace(type + ' ' + expression);
  if (is_new) {
    known->second = "v" + std::to_string(next_++);
    statements_.push_back(
        {"const " + type + " " + known->second + " = " + expression + ";", {{type, known->second}}, expression});
  }
  return known->second;
}

std::pair<std::string, bool> Body::name_of(const std::string &key) {
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new)
    known->second = sum_name();
  return {known->second, is_new};
}

std::string Body::load(const BufferRef &buffer, const Index &at) {
  if (const auto stored = values_.find(buffer.id); stored != values_.end()) {
    conflicts_ |= !(stored->second.first == at);
    return stored->second.second;
  }
  places_.push_back(at);
  loaded_.emplace(buffer.id, buffer.element);
  const std::string element = "b" + std::to_string(buffer.id) + "[" + at.text() + "]";
  const size_t before = statements_.size();
  const std::string name =
      local(compute_type(buffer.element), is_16_bit(buffer.element) ? "static_cast<float>(" + element + ")" : element);
  if (statements_.size() > before)
    statements_.back().is_load = true;
  return name;
}

void Body::put(const BufferRef &buffer, const Index &at, const std::string &value, bool in_memory) {
  values_.emplace(buffer.id, std::make_pair(at, value));
  if (!in_memory)
    return;
  places_.push_back(at);
  stored_.emplace(buffer.id, buffer.element);
  statements_.push_back({before_store_ + "b" + std::to_string(buffer.id) + "[" + at.text() + "] = static_cast<" +
                         storage_type(buffer.element) + ">(" + value + ");"});
}

Body Body::nested() const {
  Body inner = *this;
  inner.statements_.clear();
  return inner;
}

void Body::absorb(const Body &inner) {
  // Its locals end with its loop; only their names must not come again.
  next_ = inner.next_;
  loaded_ = inner.loaded_;
  places_ = inner.places_;
  conflicts_ = inner.conflicts_;
}

} // namespace repro_minify
