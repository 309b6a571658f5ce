// The units that a splice removes or keeps whole: a node, or nodes that write in place together with all that makes and
// reads what they write to. Seen from outside, such a unit writes to nothing.
#pragma once

#include "core/dataflow.h"
#include "program/atoms.h"
#include "repro_minify/record.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace repro_minify {

/// The units of a Recording's Program, each behind those it reads, and what can be read in their place.
class SpliceSites {
public:
  struct Unit {
    std::vector<const torch::jit::Node *> nodes; ///< of the top level, in order
    std::vector<Version> reads;                  ///< what it reads of other units and inputs, through packing
    std::vector<Version> exits;                  ///< what other units, or the outputs, read of it
    bool loose = false; ///< it writes to what others write to or make: order matters, and it cannot go on its own
    bool writes_to_inputs = false;
  };

  /// A unit that a splice can leave out, and what is read instead: an earlier tensor of the same shape and dtype.
  struct Site {
    /// A version that other units read of this one.
    struct Result {
      Version version;
      std::vector<const torch::jit::Value *> stand_ins;   ///< values that may be read instead, best first
      std::optional<c10::IValue> constant = std::nullopt; ///< what a number was, instead of stand-ins
    };
    int unit;
    std::vector<Result> results;
  };

  /// The Recording has to live as long as this.
  explicit SpliceSites(const Recording &recording);

  const std::vector<Unit> &units() const { return units_; }
  const Unit &unit(int number) const { return units_[number]; }
  /// Returns the unit of the node of the top level that this one is or is in; -1 for packing.
  int unit_of(const torch::jit::Node *node) const;
  /// Returns the unit that makes a version; -1 for a graph input as it was given.
  int maker(const Version &version) const;
  /// Returns the version that a reader sees: at the node of the top level that it is or is in, or as an output of the
  /// graph.
  Version seen(const torch::jit::Value *value, const torch::jit::Node *reader) const;
  /// Returns the version of a value after the last write to it.
  Version final_version(const torch::jit::Value *value) const;
  /// Returns nothing for a unit with a result that has no stand-in, or with no tensor among its results.
  std::optional<Site> site_at(int unit) const;
  /// Returns the values made by dominators that can be read where `exit` is, the nearest first, each with the number of
  /// steps from dominator to dominator up to it.
  std::vector<std::pair<const torch::jit::Value *, int>> in_dominators(int unit, const Version &exit) const;
  /// True if `exit` holds about what `value` does in the end: all that lies between undoes itself.
  bool is_about_the_same(const torch::jit::Value *value, const Version &exit) const;

private:
  using Groups = std::vector<int>; ///< by node of the top level

  /// True for a value made at the top level, and for an input of the graph.
  bool is_outer(const torch::jit::Value *value) const;
  /// True for packing that is never written to: its readers read its parts.
  bool is_read_through(const torch::jit::Node *node) const;
  const std::vector<int> &writers(const torch::jit::Value *value) const;
  void collect_reads();
  void add_reads(const torch::jit::Node *node, int reader, std::vector<Version> &reads) const;
  void add_read(const torch::jit::Value *value, int reader, std::vector<Version> &reads) const;
  Groups by_what_they_write_to() const;
  Groups without_cycles(const Groups &groups, std::vector<char> &loose) const;
  std::vector<std::pair<int, int>> edges_between(const Groups &groups) const;
  void make_units(const Groups &groups, const std::vector<char> &loose);
  void find_exits();
  std::vector<std::pair<int, int>> edges() const;
  bool is_input(const torch::jit::Value *value) const;
  Site::Result result_at(int unit, const Version &exit) const;
  const at::Tensor *tensor(const Version &version) const;
  int time_of(const Version &version) const;
  bool stands_for(const torch::jit::Value *value, const Version &exit) const;
  int rank(const torch::jit::Value *value) const;
  std::vector<const torch::jit::Value *> stand_ins(int unit, const Version &exit) const;
  const torch::jit::Value *in_ancestor(int unit, const Version &exit) const;

  const Recording &recording_;
  std::vector<const torch::jit::Node *> top_level_;
  std::map<const torch::jit::Node *, int> position_; ///< in top_level_
  std::vector<std::vector<Version>> reads_;          ///< by position
  std::vector<Version> outputs_;
  std::vector<int> unit_at_; ///< by position
  std::vector<Unit> units_;
  std::vector<int> dominators_; ///< by unit
};

// Which values can stand in for which, and the Programs that come of it: the edit behind splice.cpp.

/// A site is a unit (see splice_sites.h) whose results can each be replaced by an earlier tensor that had the same
/// shape and dtype when the Program ran: an operand, else what every path to the unit comes through (so that a stretch
/// which changes the shape and changes it back is skipped as one), else the nearest of those it was made from. A node
/// with blocks is one unit; so are the nodes that write to a value, with those that make and read it in between: all of
/// them go, or none. A number that a unit makes beside tensors becomes the constant that it was.
///
/// Any set of sites can go together: readers of a value that goes read what stands in for it, or what stands in for
/// that.
class Splicer {
public:
  explicit Splicer(std::shared_ptr<const Recording> recording);
  ~Splicer();

  int sites() const;
  /// One vertex for each site; an edge where a value gets from one to the other through nodes that are no sites.
  const Dataflow &dataflow() const;
  /// Sites that are made from no other site, or that no other site is made from.
  IndexSet ends() const;
  /// The Program without the sites that are not in `kept`, and without what only they read. A kept site that nothing
  /// reads any more is returned. Of several stand-ins the one with the longest chain of kept sites behind it is taken:
  /// what is kept stays connected where it was.
  Program keep(const IndexSet &kept) const;

  /// Sites that take more with them than one node, or need another stand-in than one of its operands.
  IndexSet regions() const;
  /// The Program without these sites, ascending, and without what is then no longer read.
  Program without(const IndexSet &gone) const;

  /// The nodes between two values of the same shape and dtype that hold about the same, where everything gets to the
  /// second through the first, though the second has nearer stand-ins; longest first.
  struct Stretch {
    int site; ///< that makes the second
    const torch::jit::Value *first;
    int length; ///< steps from dominator to dominator
  };
  std::vector<Stretch> stretches() const;
  Program without_stretch(const Stretch &stretch) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace repro_minify
