#include "reduce/passes/splicer.h"

#include "dataflow/dominators.h"
#include "program/atoms.h"
#include "reduce/passes/pass.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace repro_minify {
namespace {

using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

/// So many dominators, and so many ancestors, are looked at for something of the same shape.
constexpr size_t farthest = 256;

/// A result of a site with all that may be read instead, best first.
struct Result {
  const Value *value;
  std::vector<const Value *> stand_ins;
};

struct Site {
  const Node *node;
  std::vector<Result> results;
};

/// The values a node reads, packed ones one by one, those its blocks read included; constants are none.
void add_operands(const Node *node, std::vector<const Value *> &operands) {
  for (const Value *input : node->inputs()) {
    if (input->node()->kind() == prim::Constant)
      continue;
    if (is_packing(input->node()))
      add_operands(input->node(), operands);
    else if (std::find(operands.begin(), operands.end(), input) == operands.end())
      operands.push_back(input);
  }
  for (const torch::jit::Block *block : node->blocks()) {
    for (const Node *inner : block->nodes())
      add_operands(inner, operands);
    add_operands(block->return_node(), operands);
  }
}

/// What of a Recording bears on splicing, by position of a node at the top level.
class SpliceIndex {
public:
  explicit SpliceIndex(const Recording &recording) : recording_(recording) {
    for (const auto &list : recording.writers)
      writers_.insert(list.begin(), list.end());
    for (const Node *node : recording.program.graph->nodes()) {
      if (is_packing(node))
        continue;
      position_[node] = static_cast<int>(nodes_.size());
      nodes_.push_back(node);
      add_operands(node, operands_.emplace_back());
    }
    dominators_ = immediate_dominators(Dataflow(static_cast<int>(nodes_.size()), edges()));
  }

  const std::vector<const Node *> &nodes() const { return nodes_; }
  const std::vector<const Value *> &operands(int position) const { return operands_[position]; }
  /// -1 for packing and for what is inside a block.
  int position(const Node *node) const {
    const auto found = position_.find(node);
    return found == position_.end() ? -1 : found->second;
  }
  /// The position of what made it; -1 for a graph input too.
  int maker(const Value *value) const { return position(value->node()); }
  bool writes(const Node *node) const { return writers_.count(recording_.node_index.at(node)) > 0; }

  std::optional<Site> site_at(int position) const {
    const Node *node = nodes_[position];
    if (!node->blocks().empty() || writes(node))
      return std::nullopt;
    Site site{node, {}};
    for (const Value *output : node->outputs()) {
      if (!output->hasUses())
        continue;
      site.results.push_back({output, stand_ins(position, output)});
      if (site.results.back().stand_ins.empty())
        return std::nullopt;
    }
    return site.results.empty() ? std::nullopt : std::optional(std::move(site));
  }

private:
  std::vector<std::pair<int, int>> edges() const {
    std::vector<std::pair<int, int>> edges;
    for (int reader = 0; reader < static_cast<int>(nodes_.size()); ++reader)
      for (const Value *operand : operands_[reader])
        if (const int made_by = maker(operand); made_by >= 0 && made_by != reader)
          edges.emplace_back(made_by, reader);
    return edges;
  }

  /// The one tensor that a value was all the time; nothing for what was written to, or never ran.
  const at::Tensor *tensor(const Value *value) const {
    const auto number = recording_.value_index.find(value);
    if (number == recording_.value_index.end() || !recording_.writers[number->second].empty())
      return nullptr;
    const auto *contents = recording_.lookup(value, no_writer);
    return contents && contents->isTensor() && contents->toTensor().defined() ? &contents->toTensor() : nullptr;
  }

  bool alike(const Value *a, const Value *b) const {
    const auto *x = tensor(a), *y = tensor(b);
    return x && y && x->sizes() == y->sizes() && x->scalar_type() == y->scalar_type();
  }

  /// Weights come last: what flows through the graph is what a stretch starts from.
  int rank(const Value *value) const {
    if (maker(value) >= 0)
      return 0;
    return recording_.program.inputs[value->offset()].role == Role::Input ? 1 : 2;
  }

  std::vector<const Value *> stand_ins(int position, const Value *output) const {
    std::vector<const Value *> result;
    for (const Value *operand : operands_[position])
      if (reachable(operand) && alike(operand, output))
        result.push_back(operand);
    std::stable_sort(result.begin(), result.end(), [&](auto *a, auto *b) { return rank(a) < rank(b); });
    if (result.empty())
      if (const Value *found = in_dominator(position, output))
        result.push_back(found);
    if (result.empty())
      if (const Value *found = in_ancestor(position, output))
        result.push_back(found);
    return result;
  }

  /// Made at the top level, or an input: to be had anywhere behind.
  bool reachable(const Value *value) const {
    return maker(value) >= 0 || value->node() == recording_.program.graph->param_node();
  }

  const Value *in_dominator(int position, const Value *output) const {
    size_t steps = 0;
    for (int above = dominators_[position]; above != no_dominator && ++steps < farthest; above = dominators_[above])
      for (const Value *value : nodes_[above]->outputs())
        if (alike(value, output))
          return value;
    return nullptr;
  }

  const Value *in_ancestor(int position, const Value *output) const {
    std::deque<const Value *> open(operands_[position].begin(), operands_[position].end());
    std::set<const Value *> seen(open.begin(), open.end());
    for (; !open.empty() && seen.size() < farthest; open.pop_front()) {
      if (!reachable(open.front()))
        continue;
      if (alike(open.front(), output))
        return open.front();
      if (const int made_by = maker(open.front()); made_by >= 0)
        for (const Value *operand : operands_[made_by])
          if (seen.insert(operand).second)
            open.push_back(operand);
    }
    return nullptr;
  }

  const Recording &recording_;
  std::set<int> writers_; ///< numbers of nodes that write to something
  std::vector<const Node *> nodes_;
  std::unordered_map<const Node *, int> position_;
  std::vector<std::vector<const Value *>> operands_;
  std::vector<int> dominators_;
};

/// The values and nodes of a graph's copy, found by those of the original.
class Copy {
public:
  Copy(const Recording &recording, Program &copy)
      : recording_(recording), graph_(*copy.graph), nodes_(all_nodes(graph_)) {}
  Node *of(const Node *node) const { return nodes_[recording_.node_index.at(node)]; }
  Value *of(const Value *value) const {
    if (value->node() == recording_.program.graph->param_node())
      return graph_.inputs()[value->offset()];
    return of(value->node())->output(value->offset());
  }

private:
  const Recording &recording_;
  torch::jit::Graph &graph_;
  std::vector<Node *> nodes_;
};

} // namespace

struct Splicer::Impl {
  std::shared_ptr<const Recording> recording;
  SpliceIndex index;
  std::vector<Site> sites;
  std::vector<int> site_at; ///< by position; -1 for a node that is none
  std::unique_ptr<Dataflow> dataflow;

  explicit Impl(std::shared_ptr<const Recording> given) : recording(std::move(given)), index(*recording) {
    for (int position = 0; position < static_cast<int>(index.nodes().size()); ++position) {
      auto site = index.site_at(position);
      site_at.push_back(site ? static_cast<int>(sites.size()) : -1);
      if (site)
        sites.push_back(std::move(*site));
    }
    dataflow = std::make_unique<Dataflow>(static_cast<int>(sites.size()), edges());
  }

  /// Between sites, through whatever is none.
  std::vector<std::pair<int, int>> edges() const {
    std::vector<std::pair<int, int>> result;
    std::vector<IndexSet> behind(index.nodes().size());
    for (size_t position = 0; position < behind.size(); ++position) {
      std::set<int> sources;
      for (const Value *operand : index.operands(static_cast<int>(position)))
        if (const int maker = index.maker(operand); maker >= 0)
          sources.insert(behind[maker].begin(), behind[maker].end());
      const int site = site_at[position];
      behind[position] = site < 0 ? IndexSet(sources.begin(), sources.end()) : IndexSet{site};
      if (site >= 0)
        for (int source : sources)
          result.emplace_back(source, site);
    }
    return result;
  }

  /// Each value that goes, in order, with what is read instead: one that stays.
  std::vector<std::pair<const Value *, const Value *>> replacements(const std::vector<char> &keeps) const {
    std::vector<std::pair<const Value *, const Value *>> result;
    std::unordered_map<const Value *, const Value *> instead;
    std::vector<int> length(index.nodes().size()); // of the longest chain of kept sites that ends here
    const auto resolve = [&](const Value *value) {
      const auto found = instead.find(value);
      return found == instead.end() ? value : found->second;
    };
    const auto length_of = [&](const Value *value) {
      const int maker = index.maker(value);
      return maker < 0 ? 0 : length[maker];
    };
    for (size_t position = 0; position < length.size(); ++position) {
      const int site = site_at[position];
      if (site >= 0 && !keeps[site]) {
        for (const auto &[value, stand_ins] : sites[site].results) {
          const Value *best = resolve(stand_ins.front());
          for (const Value *stand_in : stand_ins)
            if (length_of(resolve(stand_in)) > length_of(best))
              best = resolve(stand_in);
          instead[value] = best;
          result.emplace_back(value, best);
        }
        continue;
      }
      for (const Value *operand : index.operands(static_cast<int>(position)))
        length[position] = std::max(length[position], length_of(resolve(operand)));
      length[position] += site >= 0;
    }
    return result;
  }

  /// An output that now says the same as another, or gives an input back, is none.
  void tidy_outputs(torch::jit::Graph &graph) const {
    std::set<const Value *> seen;
    for (size_t i = 0; i < graph.outputs().size();) {
      const Value *output = graph.outputs()[i];
      if (output->node() != graph.param_node() && seen.insert(output).second)
        ++i;
      else
        graph.eraseOutput(i);
    }
  }

  bool is_kept_site(const Node *node, const std::vector<char> &keeps) const {
    const int position = index.position(node);
    return position >= 0 && site_at[position] >= 0 && keeps[site_at[position]];
  }

  /// Removes what nothing reads any more, but nothing that writes and nothing that was unread all along. Returns the
  /// results of kept sites among it.
  std::vector<Value *> sweep(const std::vector<char> &keeps, const Copy &copy) const {
    std::vector<Value *> exposed;
    for (const Node *original : recording->program.graph->nodes().reverse()) {
      Node *node = copy.of(original);
      if (!original->hasUses() || node->hasUses() || index.writes(original))
        continue;
      if (!is_kept_site(original, keeps))
        node->destroy();
      else
        for (const auto &result : sites[site_at[index.position(original)]].results)
          exposed.insert(exposed.begin(), copy.of(result.value));
    }
    return exposed;
  }

  Program keep(const IndexSet &kept) const {
    std::vector<char> keeps(sites.size());
    for (int site : kept)
      keeps[site] = 1;
    Program result = copy_of(recording->program);
    const Copy copy(*recording, result);
    for (const auto &[gone, instead] : replacements(keeps))
      copy.of(gone)->replaceAllUsesWith(copy.of(instead));
    tidy_outputs(*result.graph);
    for (Value *value : sweep(keeps, copy))
      result.graph->registerOutput(value);
    drop_unused(result);
    return result;
  }
};

Splicer::Splicer(std::shared_ptr<const Recording> recording) : impl_(std::make_unique<Impl>(std::move(recording))) {}
Splicer::~Splicer() = default;

int Splicer::sites() const {
  return static_cast<int>(impl_->sites.size());
}

const Dataflow &Splicer::dataflow() const {
  return *impl_->dataflow;
}

IndexSet Splicer::ends() const {
  IndexSet result;
  for (int site = 0; site < sites(); ++site)
    if (dataflow().producers(site).empty() || dataflow().consumers(site).empty())
      result.push_back(site);
  return result;
}

Program Splicer::keep(const IndexSet &kept) const {
  return impl_->keep(kept);
}

} // namespace repro_minify
