// A crash: a fatal signal in a child, which leaves the frames of the thread that crashed, and what they are called.
#pragma once

#include "tasks/shared_area.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace repro_minify {

// The parent's side of a crash: what the frames that a child left are called.

/// A child is a copy of its parent, so the parent can look up the child's addresses; only of libraries that the child
/// loaded itself the child has to give the symbols. The parent remembers what it has looked up: that takes a
/// millisecond for each address in a library of LibTorch's size, and a reduction sees the same crash many times.
class FrameNames {
public:
  /// JobEnd::frames
  std::vector<std::string> of(const std::vector<SharedArea::Frame> &frames);

private:
  std::string name_of(const SharedArea::Frame &frame);

  std::unordered_map<const void *, std::string> looked_up_;
};

// The part of a demangled symbol that a person would call the function by.

/// "void ns::(anonymous namespace)::f<float>(at::Tensor const&)" -> "ns::(anonymous namespace)::f": no return type, no
/// arguments, no template arguments, no qualifiers, no number of a lambda ("f::{lambda}::operator()"). Understands what
/// abi::__cxa_demangle() writes, and never fails on anything else; empty when no name is left.
std::string symbol_name(std::string_view demangled);

// The handling of a fatal signal in a child: it leaves the frames of the thread that crashed, then dies of the signal.

/// The parent's part, before each fork: loads what the handler must not load. Takes no time but the first time.
void prepare_crash_handler();

/// Handles the signals of a crash in this process, on a stack of its own if it is the calling thread that crashes. A
/// frame that returns to `end_of_job`, and all beyond it, are left out. What is added to `area` is the addresses, and
/// symbols only if the process has loaded libraries since it was forked.
void install_crash_handler(SharedArea &area, const void *end_of_job);

} // namespace repro_minify
