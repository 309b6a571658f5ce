// Which values can stand in for which, and the Programs that come of it: the edit behind splice.cpp.
#pragma once
#include "core/dataflow.h"
#include "repro_minify/record.h"

#include <memory>
#include <vector>

namespace repro_minify {

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
