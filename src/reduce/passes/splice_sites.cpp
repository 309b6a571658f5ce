#include "reduce/passes/splice_sites.h"

#include "core/dataflow.h"
#include "program/formula.h"
#include "program/surgery.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>

namespace repro_minify {
namespace {

/// So many nodes that write to nothing may be drawn into a unit, as they lie between its writes. More of them are
/// worth more each on its own.
constexpr int most_strangers = 8;

int root_of(std::vector<int> &parents, int i) {
  while (parents[i] != i)
    i = parents[i] = parents[parents[i]];
  return i;
}

void join(std::vector<int> &parents, int a, int b) {
  const int x = root_of(parents, a), y = root_of(parents, b);
  parents[std::max(x, y)] = std::min(x, y);
}

void add_once(std::vector<Version> &versions, const Version &version) {
  if (std::find(versions.begin(), versions.end(), version) == versions.end())
    versions.push_back(version);
}

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

SpliceSites::SpliceSites(const Recording &recording) : recording_(recording) {
  for (const Node *node : recording.program.graph->nodes()) {
    position_[node] = static_cast<int>(top_level_.size());
    top_level_.push_back(node);
  }
  collect_reads();
  std::vector<char> loose(top_level_.size());
  const Groups groups = without_cycles(by_what_they_write_to(), loose);
  make_units(groups, loose);
  find_exits();
  dominators_ = immediate_dominators(Dataflow(static_cast<int>(units_.size()), edges()));
}

const std::vector<int> &SpliceSites::writers(const Value *value) const {
  return recording_.writers[recording_.value_index.at(value)];
}

bool SpliceSites::is_outer(const Value *value) const {
  return value->node()->owningBlock() == recording_.program.graph->block();
}

bool SpliceSites::is_read_through(const Node *node) const {
  if (!is_packing(node) || node->outputs().size() != 1)
    return false;
  return node->kind() == prim::Constant || writers(node->output()).empty();
}

int SpliceSites::unit_of(const Node *node) const {
  const auto found = position_.find(outermost(node));
  return found == position_.end() ? -1 : unit_at_[found->second];
}

int SpliceSites::maker(const Version &version) const {
  if (version.first->node() != recording_.program.graph->param_node())
    return unit_of(version.first->node());
  return version.second == no_writer ? -1 : unit_of(recording_.nodes[version.second]);
}

Version SpliceSites::seen(const Value *value, const Node *reader) const {
  const Node *outer = outermost(reader);
  const auto number = recording_.node_index.find(outer);
  const auto end = static_cast<int>(recording_.nodes.size());
  return {value, recording_.writer_before(value, number == recording_.node_index.end() ? end : number->second)};
}

void SpliceSites::add_read(const Value *value, int reader, std::vector<Version> &reads) const {
  if (value->node()->kind() == prim::Constant || !is_outer(value))
    return;
  if (is_read_through(value->node()))
    for (const Value *part : value->node()->inputs())
      add_read(part, reader, reads);
  else
    add_once(reads, {value, recording_.writer_before(value, reader)});
}

/// Constants are no reads; what the node's blocks read is.
void SpliceSites::add_reads(const Node *node, int reader, std::vector<Version> &reads) const {
  for (const Value *input : node->inputs())
    add_read(input, reader, reads);
  for (const Block *block : node->blocks()) {
    for (const Node *inner : block->nodes())
      add_reads(inner, reader, reads);
    add_reads(block->return_node(), reader, reads);
  }
}

void SpliceSites::collect_reads() {
  for (const Node *node : top_level_) {
    reads_.emplace_back();
    if (!is_read_through(node))
      add_reads(node, recording_.node_index.at(node), reads_.back());
  }
  for (const Value *output : recording_.program.graph->outputs())
    add_read(output, static_cast<int>(recording_.nodes.size()), outputs_);
}

/// Who writes to a value, and who made it, are one group. By the first of each.
SpliceSites::Groups SpliceSites::by_what_they_write_to() const {
  std::vector<int> parents(top_level_.size());
  std::iota(parents.begin(), parents.end(), 0);
  for (const auto &[value, number] : recording_.value_index) {
    int first = -1;
    if (value->node() != recording_.program.graph->param_node())
      first = position_.at(outermost(value->node()));
    for (int writer : recording_.writers[number]) {
      const int position = position_.at(recording_.nodes[writer]);
      first = first < 0 ? position : first;
      join(parents, first, position);
    }
  }
  for (size_t i = 0; i < parents.size(); ++i)
    parents[i] = root_of(parents, static_cast<int>(i));
  return parents;
}

/// Between groups, from what makes or has last written to what is read.
std::vector<std::pair<int, int>> SpliceSites::edges_between(const Groups &groups) const {
  std::set<std::pair<int, int>> edges;
  for (size_t reader = 0; reader < reads_.size(); ++reader)
    for (const auto &[value, writer] : reads_[reader]) {
      if (value->node() != recording_.program.graph->param_node())
        edges.emplace(groups[position_.at(outermost(value->node()))], groups[reader]);
      if (writer != no_writer)
        edges.emplace(groups[position_.at(recording_.nodes[writer])], groups[reader]);
    }
  std::erase_if(edges, [](const auto &edge) { return edge.first == edge.second; });
  return {edges.begin(), edges.end()};
}

/// Makes the nodes between two nodes of a group join it; where these are many, the group falls apart instead.
SpliceSites::Groups SpliceSites::without_cycles(const Groups &groups, std::vector<char> &loose) const {
  const auto size = static_cast<int>(groups.size());
  Groups merged = groups, members(groups.size());
  for (int group : groups)
    ++members[group];
  const auto component = strong_components(size, edges_between(groups));
  std::vector<int> strangers(groups.size()), first(groups.size(), -1);
  for (int i = 0; i < size; ++i) {
    const int home = component[groups[i]];
    strangers[home] += members[groups[i]] == 1 && !is_read_through(top_level_[i]);
    first[home] = first[home] < 0 ? i : first[home];
  }
  for (int i = 0; i < size; ++i) {
    const int home = component[groups[i]];
    merged[i] = first[home];
    if (strangers[home] <= most_strangers)
      continue;
    merged[i] = i;
    loose[i] = members[groups[i]] > 1;
  }
  return merged;
}

void SpliceSites::make_units(const Groups &groups, const std::vector<char> &loose) {
  const Dataflow dataflow(static_cast<int>(groups.size()), edges_between(groups));
  std::vector<int> number(groups.size(), -1);
  std::vector<char> has_node(groups.size());
  for (size_t i = 0; i < groups.size(); ++i)
    has_node[groups[i]] |= !is_read_through(top_level_[i]);
  for (int group : dataflow.topological_order())
    if (groups[group] == group && has_node[group]) {
      number[group] = static_cast<int>(units_.size());
      units_.emplace_back();
    }
  unit_at_.assign(groups.size(), -1);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (is_read_through(top_level_[i]))
      continue;
    unit_at_[i] = number[groups[i]];
    Unit &unit = units_[unit_at_[i]];
    unit.nodes.push_back(top_level_[i]);
    unit.loose |= loose[i] != 0;
  }
  for (const Value *input : recording_.program.graph->inputs())
    for (int writer : writers(input))
      units_[unit_of(recording_.nodes[writer])].writes_to_inputs = true;
}

void SpliceSites::find_exits() {
  const auto read = [&](const Version &version, int reader) {
    const int made_by = maker(version);
    if (made_by == reader)
      return;
    if (reader >= 0)
      add_once(units_[reader].reads, version);
    if (made_by >= 0)
      add_once(units_[made_by].exits, version);
  };
  for (size_t i = 0; i < reads_.size(); ++i)
    for (const Version &version : reads_[i])
      read(version, unit_at_[i]);
  for (const Version &version : outputs_)
    read(version, -1);
  const auto place = [](const Version &version) { return std::pair(version.first->unique(), version.second); };
  for (Unit &unit : units_)
    std::sort(unit.exits.begin(), unit.exits.end(),
              [&](const Version &a, const Version &b) { return place(a) < place(b); });
}

/// Returns (maker, reader) of each use of one unit by another. A read after a write depends on what was written to as
/// well.
std::vector<std::pair<int, int>> SpliceSites::edges() const {
  std::set<std::pair<int, int>> edges;
  for (size_t reader = 0; reader < units_.size(); ++reader)
    for (const Version &version : units_[reader].reads)
      for (int made_by : {maker(version), maker({version.first, no_writer})})
        if (made_by >= 0 && made_by != static_cast<int>(reader))
          edges.emplace(made_by, static_cast<int>(reader));
  return {edges.begin(), edges.end()};
}

Version SpliceSites::final_version(const Value *value) const {
  const auto &writers = recording_.writers[recording_.value_index.at(value)];
  return {value, writers.empty() ? no_writer : writers.back()};
}

std::optional<SpliceSites::Site> SpliceSites::site_at(int number) const {
  if (unit(number).loose)
    return std::nullopt;
  Site site{number, {}};
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

SpliceSites::Site::Result SpliceSites::result_at(int number, const Version &exit) const {
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
