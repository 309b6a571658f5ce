// Arithmetic belongs in children: the reducing process must never enter an OpenMP region, for a process that has done
// so and forks leaves children that hang for ever.
#pragma once

#include "repro_minify/sandbox.h"

#include <ATen/core/ivalue.h>

#include <exception>
#include <functional>
#include <string>

namespace repro_minify {

/// Says when the child is confined: before the work begins, or by the work itself, which then needs more than most.
enum class Confined { BeforeTheWork, ByTheWork };

/// Runs `work` in a sandbox child and brings its result back (tensors on the CPU, sharing of storage kept). Throws
/// std::runtime_error with the child's own message, or with how it ended; std::system_error where none was to be had,
/// or where it had too little memory.
c10::IValue compute_in_child(const std::function<c10::IValue(Child &)> &work, const Limits &limits,
                             Confined confined = Confined::BeforeTheWork);

/// Throws what compute_in_child() throws unless the child has replied.
void require_reply(const JobEnd &job_end);

/// The part of an exception's message a person needs: no C++ frames, no TorchScript traceback.
std::string first_sentence(const std::string &message);

// An untrusted file is read in a child first. The process that reduces touches only what a child has read
// to the end.

/// Runs `reading` in a confined child with less stack than this process has; returns what it returns. Throws UserError
/// in one sentence that begins with `origin`: with the child's own UserError, or how it ended. `doing`: "loading it".
std::string read_in_sandbox(const std::string &origin, const std::string &doing,
                            const std::function<std::string(Child &)> &reading, const Limits &limits);
/// The same where nothing is wanted of it but that it ends.
void try_in_sandbox(const std::string &origin, const std::string &doing, const std::function<void(Child &)> &reading,
                    const Limits &limits);

// The report on an exception that ends the program.

struct ErrorReport {
  bool is_users = false; ///< something that was given is wrong; otherwise it is our fault, or the machine's
  std::string sentence;  ///< what was wrong, and what to do
};

ErrorReport report_of(const std::exception_ptr &error);

} // namespace repro_minify
