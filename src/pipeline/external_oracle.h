// A program of the user's own that says whether a candidate is interesting, by its exit code; the habit that users of
// llvm-reduce, C-Reduce and shrinkray have:
//
//   0    interesting: the candidate still shows what is looked for
//   1    not interesting
//   101  not interesting, but worth keeping: a copy is put aside
//   125  cannot be told (as for git bisect run)
//
// Any other exit code counts as 1; a program that cannot be started (126, 127), is killed or takes too long, as 125.
#pragma once
#include "repro_minify/reducer.h"

#include <memory>
#include <string>

namespace repro_minify {

struct ExternalOracleOptions {
  std::string program;      ///< path of an executable file
  std::string work_folder;  ///< candidates are written here while they are judged; removed afterwards
  std::string aside_folder; ///< where candidates that answered 101 are kept
  bool grad = false;        ///< whether saved candidates keep requires_grad
};

/// The program gets one argument: the path of candidate.pt, with its inputs.pt beside it. It runs where we were
/// started, with what it prints kept for messages.
InterestingnessTest external_oracle(const ExternalOracleOptions &options);

/// The job that asks about a file as it is.
Job ask_oracle(const std::string &program, const std::string &model);

/// The oracle in the place of a backend, where reports and settings need one. Compiles nothing.
std::shared_ptr<const Backend> oracle_backend(const std::string &program);

/// The absolute path. Throws UserError unless it is an executable file.
std::string require_executable(const std::string &program);

} // namespace repro_minify
