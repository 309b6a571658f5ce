
#include "program/atoms.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/splice_sites.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace repro_minify {
namespace {

/// The node itself or one around it is among them.
bool is_within(const Node *node, const std::set<const Node *> &members) {
  for (; node->owningBlock() != node->owningGraph()->block(); node = node->owningBlock()->owningNode())
    if (members.count(node))
      return true;
  return members.count(node) > 0;
}

/// True if anything but these nodes, and what is in them, reads the value. Removes packing that is never read; as it
/// may be several of the uses (a list that holds the value twice, a tuple of the value and of that list), these are
/// looked at afresh.
bool is_read(const Value *value, const std::set<const Node *> &members) {
  for (size_t i = 0; i < value->uses().size();) {
    Node *user = value->uses()[i].user;
    if (is_within(user, members)) {
      ++i;
      continue;
    }
    const bool is_at_top = user->owningBlock() == user->owningGraph()->block();
    if (!is_at_top || !is_packing(user) || is_read(user->output(), {}))
      return true;
    user->destroy();
    i = 0;
  }
  return false;
}

} // namespace

struct Splicer::Impl {
  using Unit = SpliceSites::Unit;
  using Site = SpliceSites::Site;

  std::shared_ptr<const Recording> recording;
  SpliceSites index;
  std::vector<Site> sites;
  std::vector<int> site_at; ///< by unit; -1 for one that is none
  std::unique_ptr<Dataflow> dataflow;

  /// The fate of a kept site that is no longer read.
  enum class Unread { Returned, Removed };

  /// A version that goes although others read it, and what is read instead: a value that stays, or a constant.
  struct Replacement {
    Version gone;
    const Value *instead;
    std::optional<c10::IValue> constant = std::nullopt;
  };

  explicit Impl(std::shared_ptr<const Recording> given) : recording(std::move(given)), index(*recording) {
    for (int unit = 0; unit < static_cast<int>(index.units().size()); ++unit) {
      auto site = index.site_at(unit);
      site_at.push_back(site ? static_cast<int>(sites.size()) : -1);
      if (site)
        sites.push_back(std::move(*site));
    }
    dataflow = std::make_unique<Dataflow>(static_cast<int>(sites.size()), edges());
  }

  /// Between sites, through whatever is none.
  std::vector<std::pair<int, int>> edges() const {
    std::vector<std::pair<int, int>> result;
    std::vector<IndexSet> behind(index.units().size());
    for (size_t unit = 0; unit < behind.size(); ++unit) {
      std::set<int> sources;
      for (const Version &read : index.units()[unit].reads)
        if (const int maker = index.maker(read); maker >= 0)
          sources.insert(behind[maker].begin(), behind[maker].end());
      const int site = site_at[unit];
      behind[unit] = site < 0 ? IndexSet(sources.begin(), sources.end()) : IndexSet{site};
      if (site >= 0)
        for (int source : sources)
          result.emplace_back(source, site);
    }
    return result;
  }

  /// In order.
  std::vector<Replacement> replacements(const std::vector<char> &keeps) const {
    std::vector<Replacement> result;
    std::map<Version, const Value *> instead;
    std::vector<int> length(index.units().size()); // of the longest chain of kept sites that ends here
    const auto resolve = [&](const Value *value) {
      const auto found = instead.find(index.final_version(value));
      return found == instead.end() ? value : found->second;
    };
    const auto length_of = [&](const Value *value) {
      const int maker = index.maker(index.final_version(value));
      return maker < 0 ? 0 : length[maker];
    };
    for (size_t unit = 0; unit < length.size(); ++unit) {
      const int site = site_at[unit];
      if (site >= 0 && !keeps[site]) {
        for (const auto &[version, stand_ins, constant] : sites[site].results) {
          if (constant) {
            result.push_back({version, nullptr, constant});
            continue;
          }
          const Value *best = resolve(stand_ins.front());
          for (const Value *stand_in : stand_ins)
            if (length_of(resolve(stand_in)) > length_of(best))
              best = resolve(stand_in);
          instead[version] = best;
          result.push_back({version, best});
        }
        continue;
      }
      for (const Version &read : index.units()[unit].reads) {
        const auto found = instead.find(read);
        length[unit] = std::max(length[unit], found != instead.end()  ? length_of(found->second)
                                              : index.maker(read) < 0 ? 0
                                                                      : length[index.maker(read)]);
      }
      length[unit] += site >= 0;
    }
    return result;
  }

  /// Who sees this version reads the other value.
  void replace(const Replacement &replacement, const EditableCopy &copy, Graph &graph) const {
    const Version &version = replacement.gone;
    const int unit = index.maker(version);
    const torch::jit::WithInsertPoint guard(*graph.nodes().begin());
    Value *instead = replacement.constant ? graph.insertConstant(*replacement.constant) : copy.of(replacement.instead);
    for (const torch::jit::Use &use : version.first->uses())
      if (index.unit_of(use.user) != unit && index.seen(version.first, use.user) == version)
        copy.of(use.user)->replaceInput(use.offset, instead);
  }

  /// An output that now says the same as another, or gives an input back as it came, is none.
  void tidy_outputs(Graph &graph) const {
    const auto &inputs = recording->program.graph->inputs();
    std::set<const Value *> seen;
    for (size_t i = 0; i < graph.outputs().size();) {
      const Value *output = graph.outputs()[i];
      const bool came_in =
          output->node() == graph.param_node() && index.final_version(inputs[output->offset()]).second == no_writer;
      if (!came_in && output->node()->kind() != prim::Constant && seen.insert(output).second)
        ++i;
      else
        graph.eraseOutput(i);
    }
  }

  /// True if any other unit, or an output, reads what the unit makes.
  bool is_wanted(const Unit &unit, const EditableCopy &copy) const {
    std::set<const Node *> members;
    for (const Node *node : unit.nodes)
      members.insert(copy.of(node));
    bool wanted = false;
    for (const Node *node : members)
      for (const Value *output : node->outputs())
        wanted |= is_read(output, members);
    return wanted;
  }

  /// Removes what goes, and what is no longer read, but nothing that was unread all along or writes to what stays.
  /// Returns the results of kept sites among it.
  std::vector<Value *> sweep(const std::vector<char> &keeps, Unread unread, const EditableCopy &copy) const {
    std::vector<Value *> exposed;
    for (size_t number = index.units().size(); number-- > 0;) {
      const Unit &unit = index.units()[number];
      const int site = site_at[number];
      const bool goes = site >= 0 && !keeps[site];
      if (is_wanted(unit, copy) || (!goes && (unit.exits.empty() || unit.loose || unit.writes_to_inputs)))
        continue;
      if (!goes && site >= 0 && unread == Unread::Returned)
        for (const auto &result : sites[site].results) {
          if (!result.constant)
            exposed.insert(exposed.begin(), copy.of(result.version.first));
        }
      else
        for (size_t i = unit.nodes.size(); i-- > 0;)
          copy.of(unit.nodes[i])->destroy();
    }
    return exposed;
  }

  Program keep(const IndexSet &kept, Unread unread) const {
    std::vector<char> keeps(sites.size());
    for (int site : kept)
      keeps[site] = 1;
    return replaced(replacements(keeps), keeps, unread);
  }

  Program replaced(const std::vector<Replacement> &replacements, const std::vector<char> &keeps, Unread unread) const {
    return edited(recording->program, [&](EditableCopy &copy) {
      Graph &graph = *copy.program.graph;
      for (const Replacement &replacement : replacements)
        replace(replacement, copy, graph);
      tidy_outputs(graph);
      std::set<Value *> returned;
      for (Value *value : sweep(keeps, unread, copy))
        if (returned.insert(value).second)
          graph.registerOutput(value);
    });
  }

  /// True if a node, and not only an output, works with this version.
  bool is_worked_with(const Version &version) const {
    const auto &units = index.units();
    return std::any_of(units.begin(), units.end(), [&](const Unit &unit) {
      return std::find(unit.reads.begin(), unit.reads.end(), version) != unit.reads.end();
    });
  }

  /// True if all that goes with the site is one node, and its result is read from an operand.
  bool is_single_edit(const Site &site) const {
    const Unit &unit = index.unit(site.unit);
    const auto &inputs = unit.nodes.front()->inputs();
    const auto &[version, stand_ins, constant] = site.results.front();
    return !constant && unit.nodes.size() == 1 && unit.nodes.front()->blocks().empty() && site.results.size() == 1 &&
           version.second == no_writer && std::find(inputs.begin(), inputs.end(), stand_ins.front()) != inputs.end();
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

IndexSet Splicer::regions() const {
  IndexSet result;
  for (int site = 0; site < sites(); ++site)
    if (!impl_->is_single_edit(impl_->sites[site]))
      result.push_back(site);
  return result;
}

std::vector<Splicer::Stretch> Splicer::stretches() const {
  std::vector<Stretch> result;
  for (int number = 0; number < sites(); ++number) {
    const auto &site = impl_->sites[number];
    const auto &[version, stand_ins, constant] = site.results.front();
    if (constant || site.results.size() > 1 || !impl_->is_worked_with(version))
      continue;
    for (const auto &[value, steps] : impl_->index.in_dominators(site.unit, version))
      if (std::find(stand_ins.begin(), stand_ins.end(), value) == stand_ins.end() &&
          impl_->index.is_about_the_same(value, version))
        result.push_back({number, value, steps});
  }
  std::stable_sort(result.begin(), result.end(), [](const auto &a, const auto &b) { return a.length > b.length; });
  return result;
}

Program Splicer::without_stretch(const Stretch &stretch) const {
  std::vector<char> keeps(impl_->sites.size(), 1);
  keeps[stretch.site] = 0;
  const Version gone = impl_->sites[stretch.site].results.front().version;
  return impl_->replaced({{gone, stretch.first}}, keeps, Impl::Unread::Removed);
}

Program Splicer::keep(const IndexSet &kept) const {
  return impl_->keep(kept, Impl::Unread::Returned);
}

Program Splicer::without(const IndexSet &gone) const {
  IndexSet kept;
  for (int site = 0; site < sites(); ++site)
    if (!std::binary_search(gone.begin(), gone.end(), site))
      kept.push_back(site);
  return impl_->keep(kept, Impl::Unread::Removed);
}

} // namespace repro_minify
