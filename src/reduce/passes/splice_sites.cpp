#include "reduce/passes/splice_sites.h"

#include "program/dataflow/dominators.h"
#include "program/elements.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

namespace repro_minify {

using torch::jit::Value;

namespace {

/// So many dominators, and so many ancestors, are looked at for something of the same shape.
constexpr size_t farthest = 256;

/// How far two numbers may be apart, as a share of the larger: an exponential and a logarithm undo each other too.
constexpr double about = 1e-3;
/// Tensors of more elements are not compared.
constexpr int64_t most_compared = 1 << 16;

bool is_number(const Value *value) {
  const auto kind = value->type()->kind();
  return kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType || kind == c10::TypeKind::BoolType;
}

} // namespace

SpliceSites::SpliceSites(const Recording &recording)
    : SpliceUnits(recording), recording_(recording),
      dominators_(immediate_dominators(Dataflow(static_cast<int>(units().size()), edges()))) {}

Version SpliceSites::final_version(const Value *value) const {
  const auto &writers = recording_.writers[recording_.value_index.at(value)];
  return {value, writers.empty() ? no_writer : writers.back()};
}

std::optional<SpliceSite> SpliceSites::site_at(int number) const {
  if (unit(number).loose)
    return std::nullopt;
  SpliceSite site{number, {}};
  bool any_tensor = false;
  for (const Version &exit : unit(number).exits) {
    site.results.push_back(result_at(number, exit));
    any_tensor |= !site.results.back().constant;
    if (site.results.back().stand_ins.empty() && !site.results.back().constant)
      return std::nullopt;
  }
  return any_tensor ? std::optional(std::move(site)) : std::nullopt;
}

std::vector<std::pair<const Value *, int>> SpliceSites::in_dominators(int number, const Version &exit) const {
  std::vector<std::pair<const Value *, int>> result;
  int steps = 0;
  for (int above = dominators_[number]; above != no_dominator && ++steps < static_cast<int>(farthest);
       above = dominators_[above])
    for (const Version &other : unit(above).exits)
      if (stands_for(other.first, exit))
        result.emplace_back(other.first, steps);
  return result;
}

bool SpliceSites::is_about_the_same(const Value *value, const Version &exit) const {
  const auto *x = tensor(final_version(value)), *y = tensor(exit);
  if (!x || !y || !is_plain(*x) || !is_plain(*y))
    return false;
  const auto a = elements_of(*x, most_compared), b = elements_of(*y, most_compared);
  return a && b && std::equal(a->begin(), a->end(), b->begin(), b->end(), [](double one, double other) {
           return one == other || (std::isnan(one) && std::isnan(other)) ||
                  std::abs(one - other) <= about * std::max(std::abs(one), std::abs(other));
         });
}

bool SpliceSites::is_input(const Value *value) const {
  return value->node() == recording_.program.graph->param_node();
}

SpliceSite::Result SpliceSites::result_at(int number, const Version &exit) const {
  if (!is_number(exit.first))
    return {exit, stand_ins(number, exit)};
  const auto *contents = recording_.lookup(exit.first, exit.second);
  return {exit, {}, contents ? std::optional(*contents) : std::nullopt};
}

const at::Tensor *SpliceSites::tensor(const Version &version) const {
  const auto *contents = recording_.lookup(version.first, version.second);
  return contents && contents->isTensor() && contents->toTensor().defined() ? &contents->toTensor() : nullptr;
}

/// When it is made, or written to: the number of a node.
int SpliceSites::time_of(const Version &version) const {
  if (version.second != no_writer)
    return version.second;
  return is_input(version.first) ? -1 : recording_.node_index.at(version.first->node());
}

/// True if `value` can be read where `exit` is: there already, not written to any more, of the same shape and dtype.
bool SpliceSites::stands_for(const Value *value, const Version &exit) const {
  const Version version = final_version(value);
  if (time_of(version) >= time_of(exit) || !value->type()->isSubtypeOf(*c10::TensorType::get()))
    return false;
  if (const int made_by = maker(version); made_by >= 0 && unit(made_by).loose)
    return false;
  const auto *x = tensor(version), *y = tensor(exit);
  return x && y && x->sizes() == y->sizes() && x->scalar_type() == y->scalar_type();
}

/// Weights come last: what flows through the graph is what a stretch starts from.
int SpliceSites::rank(const Value *value) const {
  if (maker(final_version(value)) >= 0)
    return 0;
  return recording_.program.inputs[value->offset()].role == Role::Input ? 1 : 2;
}

std::vector<const Value *> SpliceSites::stand_ins(int number, const Version &exit) const {
  std::vector<const Value *> result;
  for (const Version &read : unit(number).reads)
    if (stands_for(read.first, exit) && std::find(result.begin(), result.end(), read.first) == result.end())
      result.push_back(read.first);
  std::stable_sort(result.begin(), result.end(), [&](auto *a, auto *b) { return rank(a) < rank(b); });
  if (result.empty())
    if (const auto found = in_dominators(number, exit); !found.empty())
      result.push_back(found.front().first);
  if (result.empty())
    if (const Value *found = in_ancestor(number, exit))
      result.push_back(found);
  return result;
}

const Value *SpliceSites::in_ancestor(int number, const Version &exit) const {
  std::deque<Version> open(unit(number).reads.begin(), unit(number).reads.end());
  std::set<Version> seen(open.begin(), open.end());
  for (; !open.empty() && seen.size() < farthest; open.pop_front()) {
    if (stands_for(open.front().first, exit))
      return open.front().first;
    if (const int made_by = maker(open.front()); made_by >= 0)
      for (const Version &read : unit(made_by).reads)
        if (seen.insert(read).second)
          open.push_back(read);
  }
  return nullptr;
}

} // namespace repro_minify
