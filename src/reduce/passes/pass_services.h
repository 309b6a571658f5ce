// The view that a pass has of the search that it is part of.
#pragma once
#include "repro_minify/check.h"
#include "repro_minify/record.h"

#include <functional>
#include <memory>
#include <string>

namespace repro_minify {

/// A Program that is made only when it is needed.
using LazyProgram = std::function<Program()>;

class PassServices {
public:
  virtual ~PassServices() = default;
  /// The failure that is looked for.
  virtual const Signature &wanted() const = 0;
  /// Returns what the Check says of any Program, with all its numbers: for hints. It accepts nothing.
  virtual Verdict verdict_of(const Program &program) = 0;
  /// Returns what eager computes, value by value, and remembers the last Recording. Throws std::runtime_error where the
  /// Program cannot be run.
  virtual std::shared_ptr<const Recording> record(const Program &program) = 0;
  /// How many questions can be looked at at a time: more than one, and it is worth saying what comes next.
  virtual int questions_at_once() const = 0;
  /// Says what is done next before the first cut, for a user who asks where the time went.
  virtual void enter_phase(const std::string &phase) = 0;
};

} // namespace repro_minify
